#include "kubexx/reloader/model/provider_class_projection.h"

#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/kept_source.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

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
  KeptPodStatus kept;
  const std::string_view name = TextAt(tree, {"status", "secretProviderClassName"});
  const JsonTree* objects = tree.At({"status", "objects"});
  if (!name.empty() && objects != nullptr && objects->size() > 0) {
    kept.provider_class = name;
    kept.digest = BytesOf(DigestOfObjects(name, *objects));
    // The driver creates the object with its first state, and the server counts the changes.
    const JsonTree* generation = tree.At({"metadata", "generation"});
    if (generation != nullptr && generation->AsInt().value_or(1) > 1) {
      kept.updated = true;
    }
  }
  StoreKept(kept, object);
  return {};
}

Result<std::optional<PodReport>> PodReportFrom(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(KeptPodStatus kept, LoadKept<KeptPodStatus>(object));
  if (!kept.provider_class) {
    return std::nullopt;
  }
  KX_ASSIGN_OR_RETURN(const Digest digest, DigestFrom(kept.digest));
  PodReport report{.source = {SourceType::kSecretProviderClass,
                              {object.key.namespace_, *std::move(kept.provider_class)}},
                   .digest = digest,
                   .updated = kept.updated.value_or(false)};
  const std::string& version = object.resource_version;
  std::from_chars(version.data(), version.data() + version.size(), report.version);
  return report;
}

Result<void> ProjectProviderClass(const AnnotationKeys& keys, cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, Parsed(object));
  Annotations annotations;
  if (const JsonTree* all = tree.At({"metadata", "annotations"})) {
    for (const JsonTree::Member& each : all->members()) {
      if (const std::string* value = each.value.AsString()) {
        annotations[each.key] = *value;
      }
    }
  }
  KeptSource kept;
  KeepAnnotations(annotations, keys, kept);
  StoreKept(kept, object);
  return {};
}

std::function<Result<void>(cache::Object&)> TransformForProviderClass(AnnotationKeys keys) {
  return [keys = std::move(keys)](cache::Object& object) {
    return ProjectProviderClass(keys, object);
  };
}

Result<Source> ProviderClassFrom(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(KeptSource kept, LoadKept<KeptSource>(object));
  return SourceOf({SourceType::kSecretProviderClass, object.key}, std::move(kept));
}

}  // namespace kubexx::reloader
