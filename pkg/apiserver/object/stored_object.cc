#include "kubexx/apiserver/object/stored_object.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/typed_object.h"
#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/json_text.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// JsonOfStored puts it at the beginning of the metadata.
constexpr std::string_view kResourceVersion = R"("metadata":{"resourceVersion":")";

Result<std::string> JsonOfEnvelope(const ResourceType& type, std::string_view value) {
  const auto envelope = codec::ReadEnvelope(value);
  if (!envelope || type.schema == nullptr) {
    return Fail(Reason::kInternalError, "a stored " + type.kind + " cannot be read");
  }
  TypedObject typed(*type.schema);
  if (const auto read = typed.ReadProtobuf(envelope->raw); !read) {
    return Fail(Reason::kInternalError,
                "a stored " + type.kind + " cannot be read: " + read.error().message);
  }
  return typed.Json();
}

/// The version in the head of a stored custom object, up to its metadata; "" for none.
std::string_view StoredVersion(const ResourceType& type, std::string_view value) {
  const std::string_view head = value.substr(0, value.find(kMetadataMember));
  const std::string start = "\"apiVersion\":\"" + type.group + "/";
  const std::size_t at = head.find(start);
  return at == std::string_view::npos
             ? std::string_view()
             : head.substr(at + start.size(),
                           head.find('"', at + start.size()) - at - start.size());
}

/// The schema of the version that a custom object is stored in; null when there is none any more.
schema::SchemaRef StoredSchema(const ResourceType& type, std::string_view value) {
  const std::string_view version = StoredVersion(type, value);
  if (version.empty() || version == type.version || type.custom->schemas == nullptr) {
    return type.custom->schema;
  }
  const auto found = type.custom->schemas->by_version.find(version);
  return found == type.custom->schemas->by_version.end() ? nullptr : found->second;
}

/// What was stored as the schema of its version wants it now, which may have changed since.
Result<JsonTree> Shaped(const ResourceType& type, std::string_view value, std::string_view json) {
  KX_ASSIGN_OR_RETURN(JsonTree object, JsonTree::Parse(json));
  const schema::SchemaRef schema = StoredSchema(type, value);
  if (!FitToSchema(schema, object)) {
    // Without defaults it can still be read and deleted, and so can those that it is listed with.
    KX_ASSIGN_OR_RETURN(object, JsonTree::Parse(json));
    schema::Prune(*schema, object);
  }
  return object;
}

bool NeedsConversion(const ResourceType& type, std::string_view value) {
  return IsConverted(type) && StoredVersion(type, value) != type.version;
}

/// How many objects a webhook is asked about at once, and how many bytes of them; at least one
/// object. Its answer, which may be larger, has a limit.
constexpr std::size_t kConvertedAtOnce = 100;
constexpr std::size_t kConvertedBytesAtOnce = std::size_t{4} << 20;

/// Whether the metadata come right behind kind and apiVersion, as in what this server stores.
/// kube-apiserver stores the members of a custom object by their names.
bool HasMetadataThird(std::string_view json) {
  const std::size_t at = json.find(kMetadataMember);
  if (at == std::string_view::npos || !json.starts_with("{\"")) {
    return false;
  }
  const std::string_view before = json.substr(1, at - 1);
  return std::ranges::count(before, '"') == 8 &&
         before.find("\"kind\":\"") != std::string_view::npos &&
         before.find("\"apiVersion\":\"") != std::string_view::npos;
}

/// Reads a value in the version of the type, or of a type whose versions differ only in their
/// names. `shaped` tells that the value already fits the schema of the version in which it was
/// stored.
Result<std::string> JsonOfOwn(const ResourceType& type, std::string_view value,
                              std::int64_t revision, bool shaped = false) {
  std::string json;
  if (value.starts_with(codec::kEnvelopeMagic)) {
    KX_ASSIGN_OR_RETURN(json, JsonOfEnvelope(type.stored_as ? *type.stored_as : type, value));
    value = json;
  }
  if (type.stored_as) {
    KX_ASSIGN_OR_RETURN(const JsonTree stored, JsonTree::Parse(value));
    KX_ASSIGN_OR_RETURN(const JsonTree own,
                        Canonical(type, type.convert(stored, type.ApiVersion())));
    json = own.ToJson();
    value = json;
  }
  if (type.schema == nullptr && !HasMetadataThird(value)) {
    KX_ASSIGN_OR_RETURN(const JsonTree other, JsonTree::Parse(value));
    json = InOrder(type, other).ToJson();
    value = json;
  }
  const std::size_t at = value.find(kMetadataMember);
  if (at == std::string_view::npos) {
    return Fail(Reason::kInternalError, "a stored " + type.kind + " has no metadata");
  }
  const std::size_t begin = at + kMetadataMember.size();
  std::string result;
  result.reserve(value.size() + 48);
  if (type.schema == nullptr) {  // It may be stored in another version of the resource.
    result.append(R"({"kind":")" + type.kind + R"(","apiVersion":")" + type.ApiVersion() + "\",");
    result.append(kMetadataMember);
  } else {
    result.append(value.substr(0, begin));
  }
  result.append(R"("resourceVersion":")").append(std::to_string(revision)).append("\"");
  if (begin < value.size() && value[begin] != '}') {
    result.append(",");
  }
  result.append(value.substr(begin));
  if (type.custom && type.custom->schema != nullptr) {
    KX_ASSIGN_OR_RETURN(JsonTree object,
                        shaped ? JsonTree::Parse(result) : Shaped(type, value, result));
    if (shaped || StoredVersion(type, value) != type.version) {
      schema::Prune(*type.custom->schema, object);
    }
    result = object.ToJson();
  }
  return result;
}

/// So deep may a stored object nest, in levels of objects and lists: it also has to be read in a
/// list, and as part of what a webhook is asked, where it is a few levels deeper.
constexpr int kMaxStoredLevels = 500;

apimachinery::Status TooDeep(const ResourceType& type) {
  return BadObject(
      type, apimachinery::Malformed(
                "", "it nests more than " + std::to_string(kMaxStoredLevels) + " levels deep"));
}

/// Refuses what could not be read again: nobody could get, list or delete it, nor any other object
/// of its type.
Result<void> CheckReadable(const ResourceType& type, const JsonTree& object,
                           std::string_view json) {
  const bool is_custom = type.schema == nullptr;
  TypedObject typed(is_custom ? codec::SchemaOf<api::meta::v1::ObjectMeta>() : *type.schema);
  const std::string metadata = is_custom ? object.Find("metadata")->ToJson() : std::string();
  const auto read = typed.ReadJson(is_custom ? metadata : json);
  return read ? Result<void>() : Fail(BadObject(type, read.error()));
}

}  // namespace

bool IsConverted(const ResourceType& type) {
  return type.custom && type.custom->converter != nullptr;
}

bool IsOfStorageVersion(const ResourceType& type, std::string_view value) {
  return !type.custom || StoredVersion(type, value) == type.custom->storage_version;
}

const ResourceType& TypeAsStored::Of(std::string_view value) {
  if (!type_.custom) {
    return type_;
  }
  std::string_view version = StoredVersion(type_, value);
  if (version.empty()) {
    version = type_.version;
  }
  auto found = by_version_.find(version);
  if (found == by_version_.end()) {
    ResourceType type = type_;
    type.version = version;
    schema::CustomVersion raw;
    raw.storage_version = version;
    type.custom =
        schema::CustomVersionRef(std::make_shared<const schema::CustomVersion>(std::move(raw)));
    found = by_version_.emplace(std::string(version), std::move(type)).first;
  }
  return found->second;
}

Result<JsonTree> InVersion(const ResourceType& type, const JsonTree& object,
                           const std::string& api_version, const std::stop_token& stop) {
  JsonTree converted = object;
  if (type.convert != nullptr) {
    converted = type.convert(object, api_version);
  } else if (IsConverted(type)) {
    KX_ASSIGN_OR_RETURN(std::vector<JsonTree> list,
                        type.custom->converter->Convert(api_version, {object}, stop));
    converted = std::move(list.front());
  }
  converted["apiVersion"] = api_version;
  return converted;
}

Result<std::string> JsonOfStored(const ResourceType& type, std::string_view value,
                                 std::int64_t revision, const std::stop_token& stop) {
  if (!NeedsConversion(type, value)) {
    return JsonOfOwn(type, value, revision);
  }
  const StoredValue one{.value = value, .revision = revision};
  KX_ASSIGN_OR_RETURN(std::vector<std::string> all, JsonOfStoredValues(type, {&one, 1}, stop));
  return std::move(all.front());
}

Result<std::vector<std::string>> JsonOfStoredValues(const ResourceType& type,
                                                    std::span<const StoredValue> values,
                                                    const std::stop_token& stop) {
  std::vector<std::string> all(values.size());
  std::vector<JsonTree> asked;
  std::vector<std::size_t> places;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (NeedsConversion(type, values[i].value)) {
      KX_ASSIGN_OR_RETURN(JsonTree object, Shaped(type, values[i].value, values[i].value));
      object["metadata"]["resourceVersion"] = std::to_string(values[i].revision);
      asked.push_back(std::move(object));
      places.push_back(i);
      bytes += values[i].value.size();
    } else {
      KX_ASSIGN_OR_RETURN(all[i], JsonOfOwn(type, values[i].value, values[i].revision));
    }
    if (asked.size() < kConvertedAtOnce && bytes < kConvertedBytesAtOnce &&
        (i + 1 < values.size() || asked.empty())) {
      continue;
    }
    KX_ASSIGN_OR_RETURN(std::vector<JsonTree> converted,
                        type.custom->converter->Convert(type.ApiVersion(), asked, stop));
    for (std::size_t k = 0; k < converted.size(); ++k) {
      JsonTree object = InOrder(type, converted[k]);
      object["metadata"].Erase("resourceVersion");
      KX_ASSIGN_OR_RETURN(all[places[k]],
                          JsonOfOwn(type, object.ToJson(), values[places[k]].revision, true));
    }
    asked.clear();
    places.clear();
    bytes = 0;
  }
  return all;
}

std::string WithRevision(std::string_view json, std::int64_t revision) {
  const std::size_t at = json.find(kResourceVersion);
  if (at == std::string_view::npos) {
    return std::string(json);
  }
  const std::size_t begin = at + kResourceVersion.size();
  return std::string(json.substr(0, begin)) + std::to_string(revision) +
         std::string(json.substr(json.find('"', begin)));
}

Result<std::string> StoredOf(const ResourceType& type, const JsonTree& object, StoredForm form,
                             const std::stop_token& stop) {
  if (type.stored_as) {
    const std::string version = type.stored_as->ApiVersion();
    KX_ASSIGN_OR_RETURN(const JsonTree other,
                        Canonical(*type.stored_as, type.convert(object, version)));
    return StoredOf(*type.stored_as, other, form, stop);
  }
  JsonTree stored = InOrder(type, object);
  if (type.custom && type.version != type.custom->storage_version) {
    const std::string version = type.group + "/" + type.custom->storage_version;
    KX_ASSIGN_OR_RETURN(stored, InVersion(type, stored, version, stop));
    stored = InOrder(type, stored);
    stored["apiVersion"] = version;  // All versions are stored as one of them.
  }
  stored["metadata"].Erase("resourceVersion");
  std::string json = stored.ToJson();
  if (codec::NestsDeeperThan(json, kMaxStoredLevels)) {
    return Fail(TooDeep(type));
  }
  if (form == StoredForm::kJson || type.schema == nullptr) {
    KX_RETURN_IF_ERROR(CheckReadable(type, stored, json));
    return json;
  }
  auto envelope = EnvelopeOf(type, json);  // which reads it as well
  return envelope ? std::move(envelope) : Fail(BadObject(type, envelope.error()));
}

}  // namespace kubexx::apiserver
