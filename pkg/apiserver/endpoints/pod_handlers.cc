// The subresources of pods that are actions: binding and eviction.
#include <utility>
#include <vector>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/admit.h"
#include "kubexx/apiserver/endpoints/call.h"
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

/// A type of what is posted to a subresource.
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
  return name == call.info.name || name.empty()
             ? Result<void>()
             : Fail(Reason::kBadRequest, "name in URL does not match name in the object: " + name);
}

/// The pod with its node, as the scheduler has decided.
Result<JsonTree> Bound(const Call& call, const JsonTree& binding, JsonTree pod) {
  const std::string node = StringAt(binding, {"target", "name"});
  const std::string name = call.info.name;
  if (IsDeleting(pod)) {
    return Fail(Conflict(*call.type, name,
                         "pod " + name + " is being deleted, cannot be assigned to a host"));
  }
  if (const std::string current = StringAt(pod, {"spec", "nodeName"}); !current.empty()) {
    return Fail(
        Conflict(*call.type, name,
                 "pod " + name + " is already assigned to node " + JsonTree(current).ToJson()));
  }
  const std::string uid = MetaString(binding, "uid");
  if (!uid.empty() && uid != MetaString(pod, "uid")) {
    return Fail(Conflict(*call.type, name,
                         "Precondition failed: UID in precondition: " + uid +
                             ", UID in object meta: " + MetaString(pod, "uid")));
  }
  pod["spec"]["nodeName"] = node;
  for (const auto& [key, value] : MetaMap(binding, "annotations")) {
    pod["metadata"]["annotations"][key] = value;
  }
  JsonTree condition = JsonTree::Object();
  condition["type"] = "PodScheduled";
  condition["status"] = "True";
  condition["lastProbeTime"] = nullptr;
  condition["lastTransitionTime"] =
      apimachinery::Time::From(call.objects.clock().Wall()).ToString();
  for (JsonTree& old : pod["status"]["conditions"].elements()) {
    if (old.TextAt("type") == "PodScheduled") {
      old = std::move(condition);
      return pod;
    }
  }
  pod["status"]["conditions"].Append(std::move(condition));
  return pod;
}

/// Whether a PodDisruptionBudget counts the pod.
bool IsCounted(const JsonTree& budget, const JsonTree& pod) {
  const JsonTree* const selector = budget.At({"spec", "selector"});
  return selector != nullptr && MatchesSelector(*selector, MetaMap(pod, "labels"));
}

Status TooManyRequests(const std::string& budget) {
  Status status(Reason::kTooManyRequests,
                "Cannot evict pod as it would violate the pod's disruption budget.", 429);
  status.details.causes.push_back(
      {.reason = "DisruptionBudget",
       .message = "The disruption budget " + budget + " does not allow another pod to go now"});
  return status;
}

/// Takes one of the disruptions that a budget allows.
Result<JsonTree> WithOneLess(const Call& call, JsonTree budget) {
  JsonTree& status = budget["status"];
  const JsonTree* const allowed = status.Find("disruptionsAllowed");
  const std::int64_t left = allowed == nullptr ? 0 : allowed->AsInt().value_or(0);
  const JsonTree* const observed = status.Find("observedGeneration");
  if (left <= 0 || observed == nullptr || observed->AsInt().value_or(0) < Generation(budget)) {
    return Fail(TooManyRequests(MetaString(budget, "name")));
  }
  status["disruptionsAllowed"] = left - 1;
  status["disruptedPods"][call.info.name] =
      apimachinery::Time::From(call.objects.clock().Wall()).ToString();
  return budget;
}

/// Asks the budgets that count the pod; an error when one does not let it go.
Result<void> AskBudgets(const Call& call, const JsonTree& pod, bool dry_run) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed" || phase == "Pending" || IsDeleting(pod)) {
    return {};
  }
  const ResourceTypeRef type = call.types.Find("policy", "v1", "poddisruptionbudgets");
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(type);
  KX_RETURN_IF_ERROR(cacher->WaitForLatest(call.request.stop));
  std::vector<std::string> names;
  for (const CachedObjectRef& object :
       cacher->cache().List({.namespace_ = call.info.namespace_}).items) {
    KX_ASSIGN_OR_RETURN(const JsonTree budget, JsonTree::Parse(object->Json()));
    if (IsCounted(budget, pod)) {
      names.push_back(MetaString(budget, "name"));
    }
  }
  if (names.size() > 1) {
    return Fail(Reason::kInternalError,
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support.",
                500);
  }
  if (names.empty()) {
    return {};
  }
  const auto updated = call.objects.Update(
      *type, {.namespace_ = call.info.namespace_, .name = names.front()}, WritePart::kStatus,
      [&call](const JsonTree& budget) { return WithOneLess(call, budget); }, dry_run,
      call.request.stop);
  return updated ? Result<void>() : Fail(updated.error());
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
  KX_ASSIGN_OR_RETURN(const JsonTree pod,
                      call.objects.Get(*call.type, call.key(), call.request.stop));
  KX_RETURN_IF_ERROR(AskBudgets(call, pod, dry_run));
  KX_RETURN_IF_ERROR(
      call.objects.Delete(*call.type, call.key(), options, dry_run, call.request.stop));
  return Done();
}

}  // namespace kubexx::apiserver
