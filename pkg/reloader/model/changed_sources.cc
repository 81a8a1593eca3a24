#include "kubexx/reloader/model/changed_sources.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

apimachinery::Status InvalidInput(const std::string& what) {
  return {Reason::kInvalidConfig, what};
}

/// Collects the objects of documents.
class DocumentReader {
 public:
  explicit DocumentReader(const std::string& default_space) : default_space_(default_space) {}

  /// `where` names the document in errors.
  Result<void> Read(JsonTree object, const std::string& where) {
    const std::string kind(object.IsObject() ? object.TextAt("kind") : std::string_view());
    if (kind.empty()) {
      return Fail(InvalidInput(where + " has no kind"));
    }
    if (JsonTree* items = kind.ends_with("List") ? object.Find("items") : nullptr;
        items != nullptr && items->IsArray()) {
      int number = 0;
      for (JsonTree& item : items->elements()) {
        KX_RETURN_IF_ERROR(Read(std::move(item), where + ", item " + std::to_string(++number)));
      }
      return {};
    }
    return Add(std::move(object), kind, where);
  }
  DescribedSources Take() { return std::move(described_); }

 private:
  Result<void> Add(JsonTree object, const std::string& kind, const std::string& where) {
    const JsonTree* metadata = object.Find("metadata");
    const bool is_object = metadata != nullptr && metadata->IsObject();
    const std::string name(is_object ? metadata->TextAt("name") : std::string_view());
    std::string space(is_object ? metadata->TextAt("namespace") : std::string_view());
    if (name.empty()) {
      return Fail(InvalidInput(where + ", a " + kind + ", has no name"));
    }
    space = space.empty() ? default_space_ : space;
    const bool is_core = object.TextAt("apiVersion") == "v1";
    const bool is_source = is_core && (kind == "ConfigMap" || kind == "Secret");
    if (!is_source) {
      described_.others.push_back(kind + " " + name);
      return {};
    }
    const SourceId id{kind == "Secret" ? SourceType::kSecret : SourceType::kConfigMap,
                      {space, name}};
    if (!seen_.insert(id).second) {
      return Fail(
          InvalidInput(where + ": " + kind + " " + id.key.ToString() + " is described twice"));
    }
    described_.sources.push_back({id, std::move(object)});
    return {};
  }

  const std::string& default_space_;
  std::set<SourceId> seen_;
  DescribedSources described_;
};

/// Merges stringData as the API server does.
void MergeStringData(Secret& secret) {
  for (auto& [key, value] : secret.string_data) {
    secret.data[key] = apimachinery::Bytes(value);
    apimachinery::Wipe(value);
  }
  secret.string_data.clear();
}
void MergeStringData(ConfigMap& /*config_map*/) {}

/// What is wrong with the data; a value is not named, which may be a Secret's.
std::string WrongField(const JsonTree& object) {
  for (const std::string_view field : {"data", "binaryData", "stringData"}) {
    const JsonTree* map = object.Find(field);
    if (map == nullptr || map->IsNull()) {
      continue;
    }
    if (!map->IsObject()) {
      return std::string(field) + " is not a map";
    }
    for (const JsonTree::Member& each : map->members()) {
      if (each.value.AsString() == nullptr && !each.value.IsNull() &&
          reloadpolicy::IsDataKey(each.key)) {
        return "the value of " + std::string(field) + "." + each.key +
               " is not a string; numbers and true and false need quotes there";
      }
    }
  }
  return "a field has a value of a wrong type";
}

/// Why the API server refuses the data; empty when it takes them. Also the keys of Secrets are no
/// secrets.
class DataCheck {
 public:
  template <class Values>
  void Add(const Values& values) {
    for (const auto& [key, value] : values) {
      if (!reloadpolicy::IsDataKey(key) || key == "." || key == ".." || key.starts_with("..")) {
        Note("\"" + key +
             "\" cannot be a key: a key has 1 to 253 letters, digits, '-', '_' and '.'");
      } else if (!keys_.insert(key).second) {
        Note("the key " + key + " is in data and in binaryData");
      }
      bytes_ += BytesIn(value);
    }
  }
  std::string Problem() const {
    return problem_.empty() && bytes_ > kMaxBytes
               ? "its values have " + std::to_string(bytes_) +
                     " bytes, and the API server takes no more than " + std::to_string(kMaxBytes)
               : problem_;
  }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{1024} * 1024;

  static std::size_t BytesIn(const std::string& value) { return value.size(); }
  static std::size_t BytesIn(const apimachinery::Bytes& value) { return value.view().size(); }
  void Note(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }

  std::set<std::string> keys_;
  std::size_t bytes_ = 0;
  std::string problem_;
};

std::string WrongData(const Secret& secret) {
  DataCheck check;
  check.Add(secret.data);
  return check.Problem();
}

std::string WrongData(const ConfigMap& config_map) {
  DataCheck check;
  check.Add(config_map.data);
  check.Add(config_map.binary_data);
  return check.Problem();
}

template <class T>
Result<ChangedSource> Changed(const DescribedSource& described, const Annotations& present,
                              const AnnotationKeys& keys) {
  auto decoded = codec::DecodeJson<T>(described.object.ToJson());
  if (!decoded) {
    // The decoder's message may contain a value, so it is left out.
    return Fail(InvalidInput(std::string(NamesOf(described.id.type).kind) + " " +
                             described.id.key.ToString() +
                             " is not valid: " + WrongField(described.object)));
  }
  T& object = *decoded;
  MergeStringData(object);
  if (const std::string problem = WrongData(object); !problem.empty()) {
    return Fail(InvalidInput(std::string(NamesOf(described.id.type).kind) + " " +
                             described.id.key.ToString() + " is not valid: " + problem));
  }
  object.metadata.namespace_ = described.id.key.namespace_;
  object.metadata.annotations.insert(present.begin(), present.end());
  ChangedSource changed{.data = ValueDigestsOf(object)};
  cache::Object stored{.encoding = codec::Encoding::kProtobuf,
                       .bytes = codec::EncodeProtobuf(object),
                       .key = described.id.key};
  KX_RETURN_IF_ERROR(ProjectSource(described.id.type, keys, stored));
  KX_ASSIGN_OR_RETURN(changed.source, SourceFrom(described.id.type, stored));
  return changed;
}

}  // namespace

Result<DescribedSources> ReadSources(std::span<const InputText> inputs,
                                     const std::string& namespace_) {
  DocumentReader reader(namespace_);
  for (const InputText& input : inputs) {
    const auto documents = codec::YamlToJson(input.text);
    if (!documents) {
      return Fail(
          InvalidInput(input.name + " is neither YAML nor JSON: " + documents.error().message));
    }
    int number = 0;
    for (const std::string& document : *documents) {
      const std::string where = input.name + ": document " + std::to_string(++number);
      auto object = JsonTree::Parse(document);
      if (!object) {
        return Fail(InvalidInput(where + " cannot be read"));
      }
      KX_RETURN_IF_ERROR(reader.Read(*std::move(object), where));
    }
  }
  return reader.Take();
}

Result<ChangedSource> ChangedSourceOf(const DescribedSource& described, const Annotations& present,
                                      const AnnotationKeys& keys, const apimachinery::Time& now) {
  KX_ASSIGN_OR_RETURN(ChangedSource changed, described.id.type == SourceType::kSecret
                                                 ? Changed<Secret>(described, present, keys)
                                                 : Changed<ConfigMap>(described, present, keys));
  changed.data.written = now;
  return changed;
}

ChangedKeys CompareKeys(const ValueDigests& before, const ValueDigests& after) {
  ChangedKeys keys;
  for (const auto& [key, digest] : after.values) {
    const auto had = before.values.find(key);
    if (had == before.values.end()) {
      keys.added.push_back(key);
    } else if (had->second != digest) {
      keys.changed.push_back(key);
    }
  }
  for (const auto& [key, digest] : before.values) {
    if (!after.values.contains(key)) {
      keys.removed.push_back(key);
    }
  }
  return keys;
}

}  // namespace kubexx::reloader
