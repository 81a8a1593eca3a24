#include "kubexx/reloader/patch.h"

#include <map>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

JsonTree AnnotationsOf(const AnnotationEdits& edits) {
  JsonTree annotations = JsonTree::Object();
  for (const auto& [key, value] : edits) {
    annotations[key] = value ? JsonTree(*value) : JsonTree();  // null removes
  }
  return annotations;
}

JsonTree EnvOf(const VariableEdit& edit) {
  JsonTree variable = JsonTree::Object();
  variable["name"] = edit.name;
  if (edit.value) {
    variable["value"] = *edit.value;
  } else {
    variable["$patch"] = "delete";
  }
  return variable;
}

JsonTree ContainersOf(const std::vector<VariableEdit>& variables) {
  std::map<std::string_view, JsonTree> by_container;
  for (const VariableEdit& edit : variables) {
    by_container[edit.container].Append(EnvOf(edit));
  }
  JsonTree containers = JsonTree::Array();
  for (auto& [name, env] : by_container) {
    JsonTree container = JsonTree::Object();
    container["name"] = name;
    container["env"] = std::move(env);
    containers.Append(std::move(container));
  }
  return containers;
}

}  // namespace

std::string StrategicMergePatch(const WorkloadWrite& write) {
  JsonTree patch = JsonTree::Object();
  if (!write.annotations.empty()) {
    patch["metadata"]["annotations"] = AnnotationsOf(write.annotations);
  }
  if (write.paused) {
    patch["spec"]["paused"] = *write.paused;
  }
  if (!write.template_annotations.empty()) {
    patch["spec"]["template"]["metadata"]["annotations"] =
        AnnotationsOf(write.template_annotations);
  }
  if (!write.variables.empty()) {
    patch["spec"]["template"]["spec"]["containers"] = ContainersOf(write.variables);
  }
  return patch.ToJson();
}

}  // namespace kubexx::reloader
