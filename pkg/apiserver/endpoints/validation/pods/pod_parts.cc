#include "kubexx/apiserver/endpoints/validation/pods/pod_parts.h"

#include <map>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/validation/pods/pod_qos.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resize.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Sets the condition of a new pod with scheduling gates that it waits for them.
void SetGated(JsonTree& pod) {
  const JsonTree* const gates = pod.At({"spec", "schedulingGates"});
  if (gates == nullptr || gates->size() == 0) {
    return;
  }
  SetCondition(PodConditionTree("PodScheduled", false, "SchedulingGated",
                                "Scheduling is blocked due to non-empty scheduling gates", ""),
               pod);
}

void CheckEphemeralContainers(const JsonTree& current, const JsonTree& object,
                              FieldCauses& causes) {
  std::map<std::string_view, const JsonTree*> after;
  for (const JsonTree& one : ElementsAt(object, {"spec", "ephemeralContainers"})) {
    after.emplace(one.TextAt("name"), &one);
  }
  for (const JsonTree& old : ElementsAt(current, {"spec", "ephemeralContainers"})) {
    const std::string_view name = old.TextAt("name");
    const auto found = after.find(name);
    if (found == after.end() || *found->second != old) {
      causes.Forbidden("spec.ephemeralContainers",
                       "existing ephemeral containers " + JsonTree(name).ToJson() + " may not be " +
                           (found == after.end() ? "removed" : "changed"));
    }
  }
}

}  // namespace

void CompleteNewPod(JsonTree& pod) {
  SetGated(pod);
  pod["status"]["qosClass"] = QosClassOf(pod["spec"]);
}

void CheckNewPod(const JsonTree& pod, FieldCauses& causes) {
  const JsonTree* const added = pod.At({"spec", "ephemeralContainers"});
  if (added != nullptr && added->size() > 0) {
    causes.Forbidden("spec.ephemeralContainers", "cannot be set on create");
  }
}

void CheckPartOfPod(WritePart part, const JsonTree& current, JsonTree& pod, FieldCauses& causes) {
  switch (part) {
    case WritePart::kStatus:
      CheckQosClass(current, pod, causes);
      break;
    case WritePart::kEphemeralContainers:
      CheckEphemeralContainers(current, pod, causes);
      break;
    case WritePart::kResize:
      CheckPodResize(current, pod, causes);
      break;
    default:
      break;
  }
}

}  // namespace kubexx::apiserver
