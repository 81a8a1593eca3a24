#include "kubexx/apiserver/endpoints/validation/cluster/quota_validation.h"

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/endpoints/validation/pods/resource_validation.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

constexpr std::string_view kScopes =
    "BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating"
    "|VolumeAttributesClass";
/// The scopes that take no values.
constexpr std::string_view kPlainScopes =
    "BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|Terminating";
constexpr std::string_view kOfPods =
    "pods|cpu|memory|limits.cpu|limits.memory|requests.cpu|requests.memory";

/// Whether pods of the scope can be counted in the resource. A resource with a domain may be
/// anybody's.
bool MayBeCounted(std::string_view scope, std::string_view resource) {
  if (!IsQuotaResource(resource) || scope == "VolumeAttributesClass" || !IsAmong(scope, kScopes)) {
    return true;
  }
  return scope == "BestEffort" ? resource == "pods" : IsAmong(resource, kOfPods);
}

bool Conflict(const std::set<std::string_view>& scopes) {
  return (scopes.contains("BestEffort") && scopes.contains("NotBestEffort")) ||
         (scopes.contains("Terminating") && scopes.contains("NotTerminating"));
}

void CheckScopes(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const list = spec.Find("scopes");
  if (list == nullptr) {
    return;
  }
  const std::string text = list->ToJson();
  std::set<std::string_view> scopes;
  for (const JsonTree& one : list->elements()) {
    const std::string_view scope = one.AsString() == nullptr ? std::string_view() : *one.AsString();
    const bool is_new = scopes.insert(scope).second;
    if (!IsAmong(scope, kScopes)) {
      causes.Invalid("spec.scopes", text, "unsupported scope");
    }
    if (!is_new || !IsAmong(scope, kScopes)) {
      continue;  // a resource that is not known may be counted for anything
    }
    for (const JsonTree::Member& hard : PartAt(spec, "hard").members()) {
      if (!MayBeCounted(scope, hard.key)) {
        causes.Invalid("spec.scopes", text, "unsupported scope applied to resource");
      }
    }
  }
  if (Conflict(scopes)) {
    causes.Invalid("spec.scopes", text, "conflicting scopes");
  }
}

void CheckScopeExpression(const JsonTree& one, const FieldPath& at, FieldCauses& causes) {
  const std::string_view scope = one.TextAt("scopeName");
  const std::string_view op = one.TextAt("operator");
  const bool none = ListAt(one, "values").empty();
  if (!IsAmong(scope, kScopes)) {
    causes.Invalid(at.Of("scopeName"), QuotedJson(scope), "unsupported scope");
  }
  if (IsAmong(scope, kPlainScopes) && op != "Exists") {
    causes.Invalid(at.Of("operator"), QuotedJson(op), "must be 'Exists' for such a scope");
  }
  if (op == "In" || op == "NotIn") {
    if (none) {
      causes.Required(at.Of("values"), "must be at least one value for 'In' and 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!none) {
      causes.Invalid(at.Of("values"), one.Find("values")->ToJson(),
                     "must be no value for 'Exists' and 'DoesNotExist'");
    }
  } else {
    causes.Invalid(at.Of("operator"), QuotedJson(op), "not a valid selector operator");
  }
}

/// kube-apiserver reports these faults for the list, without an index.
void CheckScopeSelector(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree& selector = PartAt(spec, "scopeSelector");
  const FieldPath at("spec.scopeSelector.matchExpressions");
  const std::string text = selector.size() == 0 ? "" : selector.ToJson();
  std::set<std::string_view> scopes;
  for (const JsonTree& one : ListAt(selector, "matchExpressions")) {
    const bool is_new = scopes.insert(one.TextAt("scopeName")).second;
    CheckScopeExpression(one, at, causes);
    if (!is_new || !IsAmong(one.TextAt("scopeName"), kScopes)) {
      continue;
    }
    for (const JsonTree::Member& hard : PartAt(spec, "hard").members()) {
      if (!MayBeCounted(one.TextAt("scopeName"), hard.key)) {
        causes.Invalid(at.Text(), text, "unsupported scope applied to resource");
      }
    }
  }
  if (Conflict(scopes)) {
    causes.Invalid(at.Text(), "null", "conflicting scopes");
  }
}

/// The limits of one resource in one item.
struct LimitsOf {
  std::optional<Quantity> most, least, by_default, request, ratio;
};

std::optional<Quantity> AmountOf(const codec::MemberIndex& amounts, std::string_view resource) {
  const JsonTree* const found = amounts.Find(resource);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr || text->empty() ? std::nullopt
                                          : std::optional(Quantity::FromCanonical(*text));
}

/// Adds a fault when `less` is more than `more` and both are given.
void CheckOrder(const std::optional<Quantity>& less, const std::optional<Quantity>& more,
                const Quantity& told, const std::string& field, FieldCauses& causes) {
  if (less && more && Quantity::Compare(*less, *more) > 0) {
    causes.Invalid(field, QuotedJson(told.ToString()),
                   less->ToString() + " is greater than " + more->ToString());
  }
}

void CheckLimits(const LimitsOf& of, const std::string& resource, const FieldPath& path,
                 FieldCauses& causes) {
  const auto field = [&](std::string_view member) { return path.Member(member).Key(resource); };
  if (of.least) {
    CheckOrder(of.least, of.most, *of.least, field("min"), causes);
  }
  if (of.request) {
    CheckOrder(of.least, of.request, *of.request, field("defaultRequest"), causes);
    CheckOrder(of.request, of.most, *of.request, field("defaultRequest"), causes);
    CheckOrder(of.request, of.by_default, *of.request, field("defaultRequest"), causes);
  }
  if (of.by_default) {
    CheckOrder(of.least, of.by_default, *of.by_default, field("default"), causes);
    CheckOrder(of.by_default, of.most, *of.by_default, field("default"), causes);
  }
  if (!of.ratio) {
    return;
  }
  if (of.ratio->MilliValue() < 1000) {
    causes.Invalid(field("maxLimitRequestRatio"), QuotedJson(of.ratio->ToString()),
                   "is less than 1");
  }
  if (of.least && of.most && of.least->MilliValue() > 0 &&
      static_cast<double>(of.ratio->MilliValue()) / 1000 >
          static_cast<double>(of.most->MilliValue()) /
              static_cast<double>(of.least->MilliValue())) {
    causes.Invalid(field("maxLimitRequestRatio"), QuotedJson(of.ratio->ToString()),
                   "is greater than max/min");
  }
}

void CheckLimitType(std::string_view type, const FieldPath& path, FieldCauses& causes) {
  if (!LabelKeyProblems(type).empty()) {
    CheckLabelKey(type, path.Of("type"), causes);
  } else if (type.find('/') == std::string_view::npos &&
             !IsAmong(type, "Pod|Container|PersistentVolumeClaim")) {
    causes.Invalid(path.Of("type"), QuotedJson(type),
                   "must be a standard limit type or fully qualified");
  }
}

void CheckLimit(const JsonTree& limit, const FieldPath& path, FieldCauses& causes) {
  const std::string_view type = limit.TextAt("type");
  CheckLimitType(type, path, causes);
  const bool of_pod = type == "Pod";
  std::set<std::string> resources;
  for (const std::string_view member :
       {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
    const JsonTree& amounts = PartAt(limit, member);
    if (of_pod && (member == "default" || member == "defaultRequest")) {
      if (amounts.size() > 0) {
        causes.Forbidden(path.Of(member), "may not be specified when `type` is 'Pod'");
      }
      continue;
    }
    const FieldPath at = path.Member(member);
    for (const JsonTree::Member& one : amounts.members()) {
      resources.insert(one.key);
      CheckLimitedResource(one.key, of_pod || type == "Container", at.Key(one.key), causes);
    }
  }
  const codec::MemberIndex most(limit.Find("max"));
  const codec::MemberIndex least(limit.Find("min"));
  const codec::MemberIndex by_default(of_pod ? nullptr : limit.Find("default"));
  const codec::MemberIndex request(of_pod ? nullptr : limit.Find("defaultRequest"));
  const codec::MemberIndex ratio(limit.Find("maxLimitRequestRatio"));
  if (type == "PersistentVolumeClaim" && !AmountOf(least, "storage") &&
      !AmountOf(most, "storage")) {
    causes.Required(path.Of("limits"), "either minimum or maximum storage value is required");
  }
  for (const std::string& resource : resources) {
    CheckLimits({.most = AmountOf(most, resource),
                 .least = AmountOf(least, resource),
                 .by_default = AmountOf(by_default, resource),
                 .request = AmountOf(request, resource),
                 .ratio = AmountOf(ratio, resource)},
                resource, path, causes);
  }
}

}  // namespace

void CheckQuotaSpec(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath hard("spec.hard");
  for (const auto& [name, amount] : AmountsOf(spec.Find("hard"))) {
    CheckQuotaResource(name, amount, hard.Key(name), causes);
  }
  CheckScopes(spec, causes);
  CheckScopeSelector(spec, causes);
}

void CheckLimitRange(const JsonTree& spec, FieldCauses& causes) {
  std::set<std::string_view> types;
  ForEachOf(spec, "limits", FieldPath("spec"), [&](const JsonTree& limit, const FieldPath& here) {
    const std::string_view type = limit.TextAt("type");
    CheckLimit(limit, here, causes);
    if (!types.insert(type).second) {
      causes.Duplicate(here.Of("type"), QuotedJson(type));
    }
  });
}

void CheckQuotaChange(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const auto scopes = [](const JsonTree& spec) {
    const std::vector<std::string> names = StringsAt(spec, "scopes");
    return std::set<std::string>(names.begin(), names.end());
  };
  if (scopes(before) != scopes(after)) {
    causes.Invalid("spec.scopes", JsonOrNull(after.Find("scopes")), "field is immutable");
  }
}

}  // namespace kubexx::apiserver
