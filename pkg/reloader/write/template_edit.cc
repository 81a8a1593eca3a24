#include "kubexx/reloader/write/template_edit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

JsonTree* FindNamed(JsonTree* list, std::string_view name) {
  if (list == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find_if(
      list->elements(), [&](const JsonTree& element) { return element.TextAt("name") == name; });
  return found == list->elements().end() ? nullptr : &*found;
}

void RemoveNamed(JsonTree& list, const JsonTree* element) {
  std::vector<JsonTree> kept;
  for (JsonTree& each : list.elements()) {
    if (&each != element) {
      kept.push_back(std::move(each));
    }
  }
  list = JsonTree::Array(std::move(kept));
}

void EditVariable(const VariableEdit& edit, JsonTree& container) {
  JsonTree* variable = FindNamed(container.Find("env"), edit.name);
  if (!edit.value) {
    if (variable != nullptr) {
      RemoveNamed(container["env"], variable);
    }
    return;
  }
  if (variable == nullptr) {
    JsonTree added = JsonTree::Object();
    added["name"] = edit.name;
    added["value"] = *edit.value;
    container["env"].Append(std::move(added));
    return;
  }
  variable->Erase("valueFrom");
  (*variable)["value"] = *edit.value;
}

}  // namespace

void EditAnnotations(const AnnotationEdits& edits, JsonTree& object) {
  for (const auto& [key, value] : edits) {
    if (value) {
      object["metadata"]["annotations"][key] = *value;
    } else if (std::as_const(object).At({"metadata", "annotations"}) != nullptr) {
      object["metadata"]["annotations"].Erase(key);
    }
  }
}

Result<void> EditTemplate(const WorkloadWrite& write, JsonTree& pod_template) {
  EditAnnotations(write.template_annotations, pod_template);
  for (const VariableEdit& edit : write.variables) {
    JsonTree* containers = pod_template["spec"].Find("containers");
    JsonTree* container = FindNamed(containers, edit.container);
    if (container == nullptr) {
      return apimachinery::Fail(Reason::kConflict,
                                "the pod template has no container " + edit.container);
    }
    EditVariable(edit, *container);
  }
  return {};
}

}  // namespace kubexx::reloader
