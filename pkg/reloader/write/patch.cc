#include "kubexx/reloader/write/patch.h"

#include <map>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

JsonTree EnvOf(const VariableEdit& edit) {
  JsonTree variable = JsonTree::Object();
  variable["name"] = edit.name;
  if (edit.value) {
    variable["value"] = *edit.value;
    // Null removes it, because the server refuses a value beside it.
    variable["valueFrom"] = JsonTree();
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

JsonTree AnnotationsPatch(const AnnotationEdits& edits) {
  JsonTree patch = JsonTree::Object();
  for (const auto& [key, value] : edits) {
    patch["metadata"]["annotations"][key] = value ? JsonTree(*value) : JsonTree();  // null removes
  }
  return patch;
}

JsonTree PatchWithoutVariables(const WorkloadWrite& write) {
  JsonTree patch = AnnotationsPatch(write.annotations);
  if (!write.resource_version.empty()) {
    patch["metadata"]["resourceVersion"] = write.resource_version;
  }
  if (write.restart_at) {
    patch["spec"]["restartAt"] = *write.restart_at;
  }
  if (write.paused) {
    patch["spec"]["paused"] = *write.paused;
  }
  if (!write.template_annotations.empty()) {
    patch["spec"]["template"] = AnnotationsPatch(write.template_annotations);
  }
  return patch;
}

std::string StrategicMergePatch(const WorkloadWrite& write) {
  JsonTree patch = PatchWithoutVariables(write);
  if (!write.variables.empty()) {
    patch["spec"]["template"]["spec"]["containers"] = ContainersOf(write.variables);
  }
  return patch.ToJson();
}

}  // namespace kubexx::reloader
