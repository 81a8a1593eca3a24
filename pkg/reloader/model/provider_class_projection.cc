#include "kubexx/reloader/model/provider_class_projection.h"

#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

// Annotations of the projection of a pod's status, which is a ConfigMap.
constexpr char kClassKey[] = "class";
constexpr char kDigestKey[] = "digest";
constexpr char kUpdatedKey[] = "updated";

std::string_view TextAt(const JsonTree& tree, std::initializer_list<std::string_view> path) {
  const JsonTree* value = tree.At(path);
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

Result<JsonTree> Parsed(const cache::Object& object) {
  if (object.encoding != codec::Encoding::kJson) {
    return Fail(apimachinery::Malformed("object", "a custom resource that is not JSON"));
  }
  return JsonTree::Parse(object.bytes);
}

void Store(const ConfigMap& projection, cache::Object& object) {
  object.encoding = codec::Encoding::kProtobuf;
  object.bytes = codec::EncodeProtobuf(projection);
}

Digest DigestOfObjects(std::string_view name, const JsonTree& objects) {
  DigestBuilder builder;
  for (const JsonTree& each : objects.elements()) {
    builder.Add(each.TextAt("id"), each.TextAt("version"));
  }
  builder.Add("SecretProviderClassName", name);
  return builder.Finish();
}

}  // namespace

Result<void> ProjectPodStatus(cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, Parsed(object));
  ConfigMap projection;
  projection.metadata.namespace_ = TextAt(tree, {"metadata", "namespace"});
  projection.metadata.name = TextAt(tree, {"metadata", "name"});
  const std::string_view name = TextAt(tree, {"status", "secretProviderClassName"});
  const JsonTree* objects = tree.At({"status", "objects"});
  if (!name.empty() && objects != nullptr && objects->size() > 0) {
    Annotations& kept = projection.metadata.annotations;
    kept[kClassKey] = name;
    kept[kDigestKey] = DigestOfObjects(name, *objects).ToString();
    // The driver makes it with its first state, and the server counts the changes.
    const JsonTree* generation = tree.At({"metadata", "generation"});
    if (generation != nullptr && generation->AsInt().value_or(1) > 1) {
      kept[kUpdatedKey] = "true";
    }
  }
  Store(projection, object);
  return {};
}

Result<std::optional<PodReport>> PodReportFrom(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const ConfigMap projection,
                      codec::Decode<ConfigMap>(object.encoding, object.bytes));
  const Annotations& kept = projection.metadata.annotations;
  const std::string* name = Find(kept, kClassKey);
  if (name == nullptr) {
    return std::nullopt;
  }
  const std::string* text = Find(kept, kDigestKey);
  const auto digest = text == nullptr ? std::nullopt : Digest::Parse(*text);
  if (!digest) {
    return Fail(apimachinery::Malformed("metadata.annotations", "has no digest"));
  }
  PodReport report{
      .source = {SourceType::kSecretProviderClass, {projection.metadata.namespace_, *name}},
      .digest = *digest,
      .updated = kept.contains(kUpdatedKey)};
  const std::string& version = object.resource_version;
  std::from_chars(version.data(), version.data() + version.size(), report.version);
  return report;
}

Result<void> ProjectProviderClass(const AnnotationKeys& keys, cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, Parsed(object));
  ConfigMap projection;
  projection.metadata.namespace_ = TextAt(tree, {"metadata", "namespace"});
  projection.metadata.name = TextAt(tree, {"metadata", "name"});
  Annotations annotations;
  if (const JsonTree* all = tree.At({"metadata", "annotations"})) {
    for (const JsonTree::Member& each : all->members()) {
      if (const std::string* value = each.value.AsString()) {
        annotations[each.key] = *value;
      }
    }
  }
  KeepSourceAnnotations(annotations, keys, projection.metadata.annotations);
  Store(projection, object);
  return {};
}

Result<Source> ProviderClassFrom(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const ConfigMap projection,
                      codec::Decode<ConfigMap>(object.encoding, object.bytes));
  Source source{.id = {SourceType::kSecretProviderClass,
                       {projection.metadata.namespace_, projection.metadata.name}}};
  ReadSourceAnnotations(projection.metadata.annotations, source);
  return source;
}

}  // namespace kubexx::reloader
