// Handles the subresources of pods that are actions: binding and eviction.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/request/delete_options.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

/// The time after which kube-apiserver tells clients to ask a budget again.
constexpr std::chrono::seconds kBudgetDelay{10};

/// Makes the type of objects that are posted to a subresource.
ResourceType TypeOf(const char* group, const char* kind) {
  ResourceType type;
  type.group = group;
  type.version = "v1";
  type.kind = kind;
  type.schema = api::Registry().Find(type.ApiVersion(), kind);
  return type;
}

const ResourceType& BindingType() {
  static const ResourceType kType = TypeOf("", "Binding");
  return kType;
}
const ResourceType& EvictionType() {
  static const ResourceType kType = TypeOf("policy", "Eviction");
  return kType;
}

http::Response Done() {
  http::Response response;
  response.status = 201;
  response.content_type = kJsonType;
  response.body =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";
  return response;
}

Result<void> CheckName(const Call& call, const JsonTree& object) {
  const std::string name = MetaString(object, "name");
  return name == call.info.name
             ? Result<void>()
             : Fail(Reason::kBadRequest,
                    "name in URL does not match name in the object: \"" + name + "\"");
}

/// Returns the time in the form of objects.
std::string NowOf(const Call& call) {
  return apimachinery::Time::From(call.objects.clock().Wall()).ToString();
}

/// Returns the pod with the node that the scheduler has chosen.
Result<JsonTree> Bound(const Call& call, const JsonTree& binding, JsonTree pod) {
  const std::string node = StringAt(binding, {"target", "name"});
  const std::string name = call.info.name;
  const auto refused = [&](const std::string& why) {
    ResourceType type = *call.type;
    type.plural = "pods/binding";  // This is its name in kube-apiserver's error.
    return Fail(Conflict(type, name, "pod " + name + why));
  };
  if (IsDeleting(pod)) {
    return refused(" is being deleted, cannot be assigned to a host");
  }
  if (const std::string current = StringAt(pod, {"spec", "nodeName"}); !current.empty()) {
    return refused(" is already assigned to node " + JsonTree(current).ToJson());
  }
  if (const JsonTree* const gates = pod.At({"spec", "schedulingGates"});
      gates != nullptr && gates->size() > 0) {
    return refused(" has non-empty .spec.schedulingGates");
  }
  const std::string uid = MetaString(binding, "uid");
  if (!uid.empty() && uid != MetaString(pod, "uid")) {
    return Fail(Conflict(*call.type, name,
                         "Precondition failed: UID in precondition: " + uid +
                             ", UID in object meta: " + MetaString(pod, "uid")));
  }
  pod["spec"]["nodeName"] = node;
  if (const JsonTree* const more = binding.At({"metadata", "annotations"});
      more != nullptr && more->size() > 0) {
    JsonTree& annotations = pod["metadata"]["annotations"];
    annotations = ApplyMergePatch(std::move(annotations), *more);
  }
  SetCondition(PodConditionTree("PodScheduled", true, "", "", NowOf(call)), pod);
  return pod;
}

/// Whether a PodDisruptionBudget counts the pod.
bool IsCounted(const JsonTree& budget, const JsonTree& pod) {
  const JsonTree* const selector = budget.At({"spec", "selector"});
  return selector != nullptr && MatchesSelector(*selector, MetaMap(pod, "labels"));
}

/// `after` is the time after which another attempt makes sense, or 0 when that is not known.
Status TooManyRequests(const std::string& budget, std::chrono::seconds after = {}) {
  Status status(Reason::kTooManyRequests,
                "Cannot evict pod as it would violate the pod's disruption budget.", 429);
  status.details.retry_after = after;
  status.details.causes.push_back(
      {.reason = "DisruptionBudget",
       .message = "The disruption budget " + budget + " does not allow another pod to go now"});
  return status;
}

std::int64_t NumberIn(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Takes one of the disruptions that a budget allows.
Result<JsonTree> WithOneLess(const Call& call, JsonTree budget) {
  const std::string name = MetaString(budget, "name");
  if (NumberIn(budget, {"status", "observedGeneration"}) < Generation(budget)) {
    return Fail(TooManyRequests(name, kBudgetDelay));
  }
  JsonTree& status = budget["status"];
  const std::int64_t left = NumberIn(status, {"disruptionsAllowed"});
  if (left <= 0) {
    return Fail(TooManyRequests(name));
  }
  status["disruptionsAllowed"] = left - 1;
  status["disruptedPods"][call.info.name] = NowOf(call);
  return budget;
}

/// Whether a pod that is not ready may be evicted without using the budget: the other pods are
/// enough, or the budget ignores pods that are not ready.
bool GoesFreely(const JsonTree& budget, const JsonTree& pod) {
  if (ConditionHolds(pod, "Ready")) {
    return false;
  }
  const std::int64_t desired = NumberIn(budget, {"status", "desiredHealthy"});
  return StringAt(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow" ||
         (desired > 0 && NumberIn(budget, {"status", "currentHealthy"}) >= desired);
}

/// The result of asking the budgets that count a pod.
struct BudgetAnswer {
  bool only_as_seen = false;  ///< not if it has changed since: it may have become ready
  std::string budget{};
};

/// Asks the budgets that count the pod. Returns an error when one of them does not allow the
/// eviction.
Result<BudgetAnswer> AskBudgets(const Call& call, const JsonTree& pod, bool dry_run) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed" || phase == "Pending" || IsDeleting(pod)) {
    return BudgetAnswer{.only_as_seen = phase == "Pending" && !IsDeleting(pod)};
  }
  const ResourceTypeRef type = call.types.Find("policy", "v1", "poddisruptionbudgets");
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(type);
  KX_RETURN_IF_ERROR(cacher->WaitForLatest(call.request.stop));
  std::vector<JsonTree> budgets;
  for (const CachedObjectRef& object :
       cacher->cache().List({.namespace_ = call.info.namespace_}).items) {
    KX_ASSIGN_OR_RETURN(JsonTree budget, JsonTree::Parse(object->Json()));
    if (IsCounted(budget, pod)) {
      budgets.push_back(std::move(budget));
    }
  }
  if (budgets.size() > 1) {
    return Fail(Reason::kInternalError,
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support.",
                500);
  }
  if (budgets.empty()) {
    return BudgetAnswer{};
  }
  const std::string name = MetaString(budgets.front(), "name");
  if (GoesFreely(budgets.front(), pod)) {
    return BudgetAnswer{.only_as_seen = true, .budget = name};
  }
  KX_RETURN_IF_ERROR(call.objects.Update(
      *type, {.namespace_ = call.info.namespace_, .name = name}, WritePart::kStatus,
      [&call](const JsonTree& budget) { return WithOneLess(call, budget); }, dry_run,
      call.request.stop));
  return BudgetAnswer{.budget = name};
}

/// Returns the pod with the condition that tells why it is evicted.
JsonTree Targeted(const Call& call, JsonTree pod) {
  SetCondition(PodConditionTree("DisruptionTarget", true, "EvictionByEvictionAPI",
                                "Eviction API: evicting", NowOf(call)),
               pod);
  return pod;
}

/// Marks the pod as evicted and deletes it. `options` apply to both writes.
Result<void> Evict(const Call& call, DeleteOptions options, bool dry_run) {
  if (!dry_run) {
    KX_ASSIGN_OR_RETURN(const JsonTree written,
                        call.objects.Update(
                            *call.type, call.key(), WritePart::kAll,
                            [&](const JsonTree& pod) -> Result<JsonTree> {
                              KX_RETURN_IF_ERROR(CheckPreconditions(*call.type, pod, options));
                              return Targeted(call, pod);
                            },
                            false, call.request.stop));
    if (!options.resource_version.empty()) {
      options.resource_version = MetaString(written, "resourceVersion");
    }
  }
  const auto deleted =
      call.objects.Delete(*call.type, call.key(), options, dry_run, call.request.stop);
  return deleted ? Result<void>() : Fail(deleted.error());
}

}  // namespace

Answer HandleBinding(const Call& call) {
  KX_ASSIGN_OR_RETURN(JsonTree binding, ReadBodyAs(call, BindingType()));
  KX_RETURN_IF_ERROR(CheckName(call, binding));
  KX_RETURN_IF_ERROR(AdmitPosted(call, BindingType(), binding));
  const std::string kind = StringAt(binding, {"target", "kind"});
  if (StringAt(binding, {"target", "name"}).empty() || (!kind.empty() && kind != "Node")) {
    return Fail(Reason::kInvalid, "target: a binding needs the name of a Node", 422);
  }
  KX_RETURN_IF_ERROR(call.objects.Update(
      *call.type, call.key(), WritePart::kAll,
      [&](const JsonTree& pod) { return Bound(call, binding, pod); }, call.dry_run(),
      call.request.stop));
  return Done();
}

Answer HandleEviction(const Call& call) {
  KX_ASSIGN_OR_RETURN(JsonTree eviction, ReadBodyAs(call, EvictionType()));
  KX_RETURN_IF_ERROR(CheckName(call, eviction));
  KX_RETURN_IF_ERROR(AdmitPosted(call, EvictionType(), eviction));
  const JsonTree* const given = eviction.Find("deleteOptions");
  KX_ASSIGN_OR_RETURN(const DeleteOptions options,
                      ReadDeleteOptions(given == nullptr ? JsonTree::Object() : *given));
  KX_RETURN_IF_ERROR(given == nullptr ? Result<void>() : CheckDryRun(*given));
  const JsonTree* const dry = given == nullptr ? nullptr : given->Find("dryRun");
  const bool dry_run = call.dry_run() || (dry != nullptr && dry->size() > 0);
  while (true) {
    KX_ASSIGN_OR_RETURN(const JsonTree pod,
                        call.objects.Get(*call.type, call.key(), call.request.stop));
    KX_RETURN_IF_ERROR(CheckPreconditions(*call.type, pod, options));
    KX_ASSIGN_OR_RETURN(const BudgetAnswer answer, AskBudgets(call, pod, dry_run));
    DeleteOptions as_seen = options;
    const bool bound = answer.only_as_seen && options.resource_version.empty();
    if (bound) {
      as_seen.resource_version = MetaString(pod, "resourceVersion");
    }
    const auto evicted = Evict(call, as_seen, dry_run);
    if (evicted) {
      return Done();
    }
    if (!bound || evicted.error().reason != Reason::kConflict) {
      return Fail(evicted.error());
    }
    if (!answer.budget.empty()) {  // The pod may have become ready, so the client asks again.
      return Fail(TooManyRequests(answer.budget, kBudgetDelay));
    }
  }
}

}  // namespace kubexx::apiserver
