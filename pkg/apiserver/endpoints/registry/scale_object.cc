#include "kubexx/apiserver/endpoints/registry/scale_object.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

JsonTree ReplicasAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Returns the value at a path of members.
const JsonTree* Follow(const JsonTree& object, const std::vector<std::string>& members) {
  const std::vector<std::string_view> path(members.begin(), members.end());
  return object.At(path);
}

std::int64_t CountAt(const JsonTree& object, const std::vector<std::string>& members) {
  const JsonTree* const found = Follow(object, members);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Makes the Scale of a custom resource from the paths in its definition.
JsonTree CustomScale(const schema::ScalePaths& paths, const JsonTree& object, JsonTree scale) {
  scale["spec"]["replicas"] = CountAt(object, paths.spec_replicas);
  scale["status"]["replicas"] = CountAt(object, paths.status_replicas);
  if (!paths.selector.empty()) {
    const JsonTree* const selector = Follow(object, paths.selector);
    if (selector != nullptr && selector->AsString() != nullptr && !selector->AsString()->empty()) {
      scale["status"]["selector"] = *selector;
    }
  }
  return scale;
}

/// Returns the selector of a built-in object as text, by which autoscalers find its pods.
std::string SelectorOf(const JsonTree& object) {
  const JsonTree* const selector = object.At({"spec", "selector"});
  if (selector == nullptr) {
    return {};
  }
  const JsonTree* const labels = selector->Find("matchLabels");
  const JsonTree* const expressions = selector->Find("matchExpressions");
  // The selector of a ReplicationController is a map of labels, which may have any names.
  const bool is_plain = (labels == nullptr || !labels->IsObject()) &&
                        (expressions == nullptr || !expressions->IsArray());
  return is_plain ? apimachinery::LabelSelector::FromMap(LabelMapOf(selector)).ToString()
                  : SelectorText(*selector);
}

}  // namespace

const ResourceType& ScaleType() {
  static const ResourceType kType = [] {
    ResourceType type;
    type.group = "autoscaling";
    type.version = "v1";
    type.kind = "Scale";
    type.plural = "scales";
    type.columns = &kScaleTable;
    type.schema = api::Registry().Find("autoscaling/v1", "Scale");
    return type;
  }();
  return kType;
}

JsonTree ScaleOf(const ResourceType& type, const JsonTree& object) {
  JsonTree scale = JsonTree::Object();
  scale["kind"] = "Scale";
  scale["apiVersion"] = "autoscaling/v1";
  for (const char* const field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (std::string text = MetaString(object, field); !text.empty()) {
      scale["metadata"][field] = std::move(text);
    }
  }
  if (type.custom) {
    return CustomScale(type.custom->scale, object, std::move(scale));
  }
  scale["spec"] = JsonTree::Object();
  if (const JsonTree replicas = ReplicasAt(object, {"spec", "replicas"}); replicas != JsonTree(0)) {
    scale["spec"]["replicas"] = replicas;
  }
  scale["status"]["replicas"] = ReplicasAt(object, {"status", "replicas"});
  if (std::string selector = SelectorOf(object); !selector.empty()) {
    scale["status"]["selector"] = std::move(selector);
  }
  return scale;
}

std::vector<std::string> ReplicasPath(const ResourceType& type) {
  return type.custom ? type.custom->scale.spec_replicas
                     : std::vector<std::string>{"spec", "replicas"};
}

std::int64_t ReplicasOfScale(const JsonTree& scale) { return CountAt(scale, {"spec", "replicas"}); }

Result<void> SetReplicas(const ResourceType& type, std::int64_t count, JsonTree& object) {
  if (!type.custom) {
    object["spec"]["replicas"] = count;
    return {};
  }
  JsonTree* at = &object;
  std::string path;
  for (const std::string& member : type.custom->scale.spec_replicas) {
    // A value that is not an object would be replaced by one.
    if (!at->IsObject() && !at->IsNull()) {
      return Fail(Reason::kInvalid, "value cannot be set because " + path + " is not an object",
                  422);
    }
    at = &(*at)[member];
    path += "." + member;
  }
  *at = count;
  return {};
}

Result<void> CheckReplicas(const ResourceType& type, const JsonTree& object) {
  if (!type.custom || Follow(object, type.custom->scale.spec_replicas) != nullptr) {
    return {};
  }
  std::string path;
  for (const std::string& member : type.custom->scale.spec_replicas) {
    path += "." + member;
  }
  return Fail(Reason::kInternalError,
              "Internal error occurred: the spec replicas field \"" + path + "\" does not exist",
              500);
}

}  // namespace kubexx::apiserver
