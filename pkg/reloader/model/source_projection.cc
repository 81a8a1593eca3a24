#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/kept_source.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/model/source_trace.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Result;

Digest DigestOfData(const ConfigMap& config_map) {
  DigestBuilder builder;
  for (const auto& [key, value] : config_map.data) {
    builder.Add(key, value);
  }
  std::map<std::string_view, std::string> encoded;
  for (const auto& [key, value] : config_map.binary_data) {
    builder.Add(key, encoded[key] = codec::EncodeBase64(value.view()));
  }
  return builder.Finish();
}

Digest DigestOfData(const Secret& secret) {
  DigestBuilder builder;
  for (const auto& [key, value] : secret.data) {
    builder.Add(key, value.view());
  }
  return builder.Finish();
}

/// Wipes a text when the scope ends.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string& text) : text_(text) {}
  WipeAtEnd(const WipeAtEnd&) = delete;
  WipeAtEnd& operator=(const WipeAtEnd&) = delete;
  ~WipeAtEnd() { apimachinery::Wipe(text_); }

 private:
  std::string& text_;
};

void WipeValues(std::map<std::string, std::string>& texts) {
  for (auto& [key, value] : texts) {
    apimachinery::Wipe(value);
  }
}

// Bytes are wiped by their own destructor. The annotation of kubectl apply contains the data once
// more.
void WipeTexts(ConfigMap& config_map) { WipeValues(config_map.metadata.annotations); }
void WipeTexts(Secret& secret) {
  WipeValues(secret.metadata.annotations);
  WipeValues(secret.string_data);
}

constexpr std::string_view kAllNamespaces = "*";

void KeepKeys(const api::meta::v1::ObjectMeta& metadata, KeptSource& kept) {
  const std::string* text = Find(metadata.annotations, kSourceKeys);
  if (text == nullptr) {
    return;
  }
  std::vector<std::string> keys;
  AnyItem(*text, [&](std::string_view key) {
    keys.emplace_back(key);
    return false;
  });
  std::vector<std::string> problems;
  if (std::string list = reloadpolicy::KeyList(std::move(keys), problems); !list.empty()) {
    kept.keys = std::move(list);
  }
  for (const std::string& problem : problems) {
    logging::Warning("Part of an annotation has no effect", {{"annotation", kSourceKeys},
                                                             {"namespace", metadata.namespace_},
                                                             {"source", metadata.name},
                                                             {"error", problem}});
  }
}

/// The most namespaces that a source may list: each source is kept in memory.
constexpr std::size_t kMaxAllowed = 256;

void KeepAllowed(const api::meta::v1::ObjectMeta& metadata, KeptSource& kept) {
  const std::string* text = Find(metadata.annotations, kAllowedNamespaces);
  if (text == nullptr) {
    return;
  }
  std::set<std::string_view> namespaces;
  std::string problem;
  AnyItem(*text, [&](std::string_view item) {
    if (item == kAllNamespaces || apimachinery::IsDnsLabel(item)) {
      namespaces.insert(item);
    } else if (!item.empty()) {
      problem = "an item is neither the name of a namespace nor \"*\"";
    }
    return namespaces.size() > kMaxAllowed;
  });
  if (namespaces.contains(kAllNamespaces)) {
    kept.allowed = kAllNamespaces;
  } else if (namespaces.size() > kMaxAllowed) {
    problem = "it lists more than " + std::to_string(kMaxAllowed) +
              " namespaces, so that none of them counts; \"*\" allows all";
  } else if (!namespaces.empty()) {
    for (const std::string_view each : namespaces) {
      kept.allowed = kept.allowed ? *kept.allowed + "," + std::string(each) : std::string(each);
    }
  }
  if (!problem.empty()) {
    logging::Warning("Part of a list of allowed namespaces has no effect",
                     {{"annotation", kAllowedNamespaces},
                      {"namespace", metadata.namespace_},
                      {"source", metadata.name},
                      {"error", problem}});
  }
}

std::vector<std::optional<apimachinery::Time>> TimesOfWrites(
    const api::meta::v1::ObjectMeta& metadata) {
  std::vector<std::optional<apimachinery::Time>> times;
  for (const api::meta::v1::ManagedFieldsEntry& entry : metadata.managed_fields) {
    times.push_back(entry.time);
  }
  return times;
}

/// Notes whether the data with this digest are those that the operator has put back.
void KeepRestored(const api::meta::v1::ObjectMeta& metadata, const Digest& digest,
                  KeptSource& kept) {
  const auto mark = RestoredMark::In(metadata.annotations);
  if (mark && mark->uid == metadata.uid && mark->good == digest) {
    kept.restored = true;
    kept.settled = mark->settled ? std::optional(mark->settled->ToString()) : std::nullopt;
  }
}

template <class T>
Result<void> Project(const AnnotationKeys& keys, cache::Object& object, SourceDetail detail) {
  std::string bytes = std::exchange(object.bytes, {});
  const WipeAtEnd wipe(bytes);
  KX_ASSIGN_OR_RETURN(T source, codec::Decode<T>(object.encoding, bytes));
  const Digest digest = DigestOfData(source);
  KeptSource kept{.digest = BytesOf(digest)};
  KeepRestored(source.metadata, digest, kept);
  if (KeyPrints prints = KeyPrintsOf(source); !prints.packed.empty()) {
    kept.prints = apimachinery::Bytes(std::move(prints.packed));
  }
  KeepAnnotations(source.metadata.annotations, keys, kept);
  KeepKeys(source.metadata, kept);
  if (keys.other_namespaces) {
    KeepAllowed(source.metadata, kept);
  }
  KeepAsCreated(source.metadata.creation_timestamp, TimesOfWrites(source.metadata), kept);
  if (detail == SourceDetail::kWithKeys) {
    KeepTrace(ValueDigestsOf(source), DataWriterOf(source.metadata), kept);
  }
  WipeTexts(source);
  StoreKept(kept, object);
  return {};
}

}  // namespace

bool Allows(const Source& source, std::string_view namespace_) {
  return source.allowed == kAllNamespaces ||
         (!source.allowed.empty() &&
          AnyItem(source.allowed, [&](std::string_view item) { return item == namespace_; }));
}

ValueDigests ValueDigestsOf(const ConfigMap& config_map) {
  ValueDigests result{.whole = DigestOfData(config_map)};
  for (const auto& [key, value] : config_map.data) {
    result.values[key] = DigestOf(value);
  }
  for (const auto& [key, value] : config_map.binary_data) {
    result.values[key] = DigestOf(value.view());
  }
  return result;
}

ValueDigests ValueDigestsOf(const Secret& secret) {
  ValueDigests result{.whole = DigestOfData(secret)};
  for (const auto& [key, value] : secret.data) {
    result.values[key] = DigestOf(value.view());
  }
  return result;
}

Result<void> ProjectSource(SourceType type, const AnnotationKeys& keys, cache::Object& object,
                           SourceDetail detail) {
  switch (type) {
    case SourceType::kConfigMap:
      return Project<ConfigMap>(keys, object, detail);
    case SourceType::kSecret:
      return Project<Secret>(keys, object, detail);
    case SourceType::kSecretProviderClass:
      return ProjectPodStatus(object);
  }
  return apimachinery::Fail(
      apimachinery::Malformed("object", "of a described kind, which ProjectFields projects"));
}

std::function<Result<void>(cache::Object&)> TransformFor(SourceType type, AnnotationKeys keys,
                                                         SourceDetail detail) {
  return [type, detail, keys = std::move(keys)](cache::Object& object) {
    return ProjectSource(type, keys, object, detail);
  };
}

bool IsAsCreated(const cache::Object& object) {
  const auto kept = LoadKept<KeptSource>(object);
  return kept && kept->as_created.value_or(false);
}

Result<Source> SourceFrom(SourceType type, const cache::Object& object) {
  if (type == SourceType::kSecretProviderClass) {
    KX_ASSIGN_OR_RETURN(const std::optional<PodReport> report, PodReportFrom(object));
    return report ? Source{.id = report->source, .digest = report->digest}
                  : Source{.id = {type, object.key}};
  }
  KX_ASSIGN_OR_RETURN(KeptSource kept, LoadKept<KeptSource>(object));
  if (kept.unreadable) {
    return apimachinery::Fail(apimachinery::Malformed("object", *kept.unreadable));
  }
  KX_ASSIGN_OR_RETURN(const Digest digest, DigestFrom(kept.digest));
  Source source = SourceOf({type, object.key}, std::move(kept));
  source.digest = digest;
  return source;
}

}  // namespace kubexx::reloader
