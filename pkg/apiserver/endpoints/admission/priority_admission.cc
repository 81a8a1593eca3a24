#include "kubexx/apiserver/endpoints/admission/priority_admission.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/admission/refusal.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";
constexpr std::string_view kClasses = "priorityclasses";
constexpr std::int64_t kSystemCritical = 2'000'000'000;

/// What a class gives to its pods.
struct Priority {
  std::string name{};
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
};

Priority PriorityOf(const JsonTree& object) {
  Priority priority;
  priority.name = MetaString(object, "name");
  const JsonTree* const value = object.Find("value");
  priority.value = value == nullptr ? 0 : value->AsInt().value_or(0);
  priority.policy = object.TextAt("preemptionPolicy");
  return priority;
}

/// The class that is the default of all: of several, which only a race can make, the lowest.
Result<std::optional<Priority>> DefaultClass(const Call& call) {
  const ResourceTypeRef type = call.types.Find(kSchedulingGroup, "v1", kClasses);
  std::optional<Priority> found;
  KX_RETURN_IF_ERROR(call.objects.storage().GetList(
      type->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        const auto json = JsonOfStored(*type, *kv.value, kv.mod_revision);
        const auto tree = json ? JsonTree::Parse(*json) : Fail(json.error());
        const JsonTree* const is_default = tree ? tree->Find("globalDefault") : nullptr;
        if (is_default != nullptr && is_default->AsBool().value_or(false)) {
          Priority priority = PriorityOf(*tree);
          if (!found || priority.value < found->value) {
            found = std::move(priority);
          }
        }
        return {};
      },
      call.request.stop));
  return found;
}

Result<Priority> ClassOf(const Call& call, const JsonTree& pod, const std::string& name) {
  if (name.empty()) {
    KX_ASSIGN_OR_RETURN(std::optional<Priority> found, DefaultClass(call));
    return found ? *std::move(found) : Priority();
  }
  const auto found = call.objects.Get(*call.types.Find(kSchedulingGroup, "v1", kClasses),
                                      {.name = name}, call.request.stop);
  if (!found) {
    return found.error().reason == Reason::kNotFound
               ? NotAdmitted(call, pod, "no PriorityClass with name " + name + " was found")
               : Fail(found.error());
  }
  return PriorityOf(*found);
}

/// Keeps what a pod was given when it was made, where it does not say so itself.
void KeepPriority(const JsonTree& old, JsonTree& pod) {
  for (const char* const field : {"priority", "preemptionPolicy"}) {
    const JsonTree* const before = old.At({"spec", field});
    if (before != nullptr && pod.At({"spec", field}) == nullptr) {
      pod["spec"][field] = *before;
    }
  }
}

Result<void> GiveToNewPod(const Call& call, JsonTree& pod) {
  KX_ASSIGN_OR_RETURN(const Priority priority,
                      ClassOf(call, pod, StringAt(pod, {"spec", "priorityClassName"})));
  JsonTree& spec = pod["spec"];
  const JsonTree* const given = spec.Find("priority");
  if (given != nullptr && given->AsInt() && *given->AsInt() != priority.value) {
    return NotAdmitted(
        call, pod,
        "the integer value of priority (" + std::to_string(*given->AsInt()) +
            ") must not be provided in pod spec; priority admission controller computed " +
            std::to_string(priority.value) + " from the given PriorityClass name");
  }
  const std::string_view policy = spec.TextAt("preemptionPolicy");
  if (!policy.empty() && !priority.policy.empty() && policy != priority.policy) {
    return NotAdmitted(
        call, pod,
        "the string value of PreemptionPolicy (" + std::string(policy) +
            ") must not be provided in pod spec; priority admission controller computed " +
            priority.policy + " from the given PriorityClass name");
  }
  if (!priority.name.empty()) {
    spec["priorityClassName"] = priority.name;
  }
  spec["priority"] = priority.value;
  if (!priority.policy.empty()) {
    spec["preemptionPolicy"] = priority.policy;
  }
  return {};
}

Result<void> CheckOneDefault(const Call& call, const JsonTree& object) {
  const JsonTree* const is_default = object.Find("globalDefault");
  if (is_default == nullptr || !is_default->AsBool().value_or(false)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const std::optional<Priority> other, DefaultClass(call));
  if (!other || other->name == MetaString(object, "name")) {
    return {};
  }
  return NotAdmitted(
      call, object,
      "PriorityClass " + other->name + " is already marked as default. Only one default can exist");
}

}  // namespace

Result<void> MakePriorityClasses(const TypeRegistry& types, ObjectStore& objects,
                                 const std::stop_token& stop) {
  const ResourceTypeRef type = types.Find(kSchedulingGroup, "v1", kClasses);
  struct System {
    const char* name;
    std::int64_t value;
    const char* description;
  };
  for (const System& one : {System{"system-node-critical", kSystemCritical + 1000,
                                   "For system pods that have to stay on the node they are on."},
                            System{"system-cluster-critical", kSystemCritical,
                                   "For system pods that have to run on some node."}}) {
    JsonTree object = JsonTree::Object();
    object["metadata"]["name"] = one.name;
    object["value"] = one.value;
    object["description"] = one.description;
    KX_ASSIGN_OR_RETURN(object, Canonical(*type, object));
    const auto made = objects.Create(*type, "", std::move(object), false, stop);
    if (!made && made.error().reason != Reason::kAlreadyExists) {
      return Fail(made.error().WithContext(std::string("make PriorityClass ") + one.name));
    }
  }
  return {};
}

Result<void> GivePriority(const Call& call, JsonTree& object, const JsonTree* old) {
  if (!call.info.subresource.empty()) {
    return {};
  }
  if (call.type->Is(kSchedulingGroup, kClasses)) {
    return CheckOneDefault(call, object);
  }
  if (!call.type->group.empty() || call.type->plural != "pods") {
    return {};
  }
  if (old != nullptr) {
    KeepPriority(*old, object);
    return {};
  }
  return GiveToNewPod(call, object);
}

}  // namespace kubexx::apiserver
