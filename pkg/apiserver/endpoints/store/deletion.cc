#include "kubexx/apiserver/endpoints/store/deletion.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";
constexpr std::int64_t kDefaultGraceSeconds = 30;
// A longer time makes no difference, and its end could not be represented.
constexpr std::int64_t kMaxGraceSeconds = std::int64_t{100} * 366 * 24 * 3600;

std::optional<std::int64_t> IntegerAt(const JsonTree& object,
                                      std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? std::nullopt : found->AsInt();
}

bool IsOfCollector(const std::string& finalizer) {
  return finalizer == kForeground || finalizer == kOrphan;
}

/// Sets the finalizers for which the garbage collector waits. When a client does not specify the
/// propagation, the one of an earlier request stays. As registry/generic's
/// deletionFinalizersForGarbageCollection.
void SetPropagation(const ResourceType& type, const DeleteOptions& options, JsonTree& object) {
  std::vector<std::string> names = FinalizersOf(object);
  std::string_view wanted = options.propagation;
  if (wanted.empty() && type.rules.orphans_by_default &&
      std::ranges::none_of(names, IsOfCollector)) {
    wanted = "Orphan";
  }
  if (wanted.empty() || type.rules.uncollected) {
    return;
  }
  std::erase_if(names, IsOfCollector);
  if (wanted == "Orphan") {
    names.emplace_back(kOrphan);
  } else if (wanted == "Foreground") {
    names.emplace_back(kForeground);
  }
  SetFinalizers(object, names);
}

/// Returns the wanted time in seconds. As in kube-apiserver, a negative one is a second, so that
/// nobody removes a pod at once by mistake.
std::int64_t NotNegative(std::int64_t grace) { return grace < 0 ? 1 : grace; }

/// Returns the time that a pod has to end. It is 0 when no kubelet has the pod, or the pod has
/// ended.
std::int64_t GraceOf(const DeleteOptions& options, const JsonTree& pod) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  if (StringAt(pod, {"spec", "nodeName"}).empty() || phase == "Failed" || phase == "Succeeded") {
    return 0;
  }
  const std::int64_t grace = options.grace_seconds
                                 ? *options.grace_seconds
                                 : IntegerAt(pod, {"spec", "terminationGracePeriodSeconds"})
                                       .value_or(kDefaultGraceSeconds);
  return std::min(NotNegative(grace), kMaxGraceSeconds);
}

void Mark(const ResourceType& type, std::chrono::system_clock::time_point when, std::int64_t grace,
          JsonTree& object) {
  if (!IsDeleting(object) && (type.rules.has_generation || Generation(object) > 0)) {
    object["metadata"]["generation"] = Generation(object) + 1;
  }
  SetMeta(object, "deletionTimestamp", apimachinery::Time::From(when).ToString());
  if (type.rules.holds_objects) {  // A namespace has no grace period, not even one of zero.
    object["status"]["phase"] = "Terminating";
  } else {
    object["metadata"]["deletionGracePeriodSeconds"] = grace;
  }
}

/// Handles a pod that is already being deleted: its time can only become shorter.
DeletionStep Shorten(const ResourceType& type, const DeleteOptions& options, base::Clock& clock,
                     JsonTree& pod) {
  const std::int64_t left = IntegerAt(pod, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  if (left == 0) {
    return HasFinalizers(pod) ? DeletionStep::kWait : DeletionStep::kRemove;
  }
  const std::int64_t grace = NotNegative(options.grace_seconds.value_or(left));
  if (grace >= left) {
    return DeletionStep::kWait;
  }
  if (grace == 0 && !HasFinalizers(pod)) {
    return DeletionStep::kRemove;
  }
  const auto end = apimachinery::Time::Parse(MetaString(pod, "deletionTimestamp"));
  const auto when =
      end ? std::chrono::system_clock::time_point(std::chrono::seconds(end->seconds - left + grace))
          : clock.Wall();
  Mark(type, when, grace, pod);
  return DeletionStep::kMark;
}

/// Whether finalizers keep the object. Those in spec.finalizers keep a namespace, too.
bool Waits(const ResourceType& type, const JsonTree& object) {
  const JsonTree* const finalizers =
      type.rules.holds_objects ? object.At({"spec", "finalizers"}) : nullptr;
  return HasFinalizers(object) || (finalizers != nullptr && finalizers->size() > 0);
}

}  // namespace

DeletionStep PlanDeletion(const ResourceType& type, const DeleteOptions& options,
                          base::Clock& clock, JsonTree& object) {
  if (type.rules.deleted_gracefully && IsDeleting(object)) {
    return Shorten(type, options, clock, object);
  }
  if (IsCustomResourceDefinition(type) && !IsDeleting(object)) {
    SetPropagation(type, options, object);
    BeginTermination(clock, object);
    return DeletionStep::kMark;
  }
  const std::vector<std::string> before = FinalizersOf(object);
  SetPropagation(type, options, object);
  const bool changed = before != FinalizersOf(object);
  const std::int64_t grace = type.rules.deleted_gracefully ? GraceOf(options, object) : 0;
  // The content of a namespace is deleted first, even when none of its finalizers requires that.
  const bool emptied = !type.rules.holds_objects || IsDeleting(object);
  if (grace == 0 && emptied && !Waits(type, object)) {
    return DeletionStep::kRemove;
  }
  if (!IsDeleting(object)) {
    Mark(type, clock.Wall() + std::chrono::seconds(grace), grace, object);
    return DeletionStep::kMark;
  }
  return changed ? DeletionStep::kMark : DeletionStep::kWait;
}

bool IsDone(const ResourceType& type, const JsonTree& before, const JsonTree& after) {
  return IsDeleting(after) && Waits(type, before) && !Waits(type, after) &&
         IntegerAt(before, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

}  // namespace kubexx::apiserver
