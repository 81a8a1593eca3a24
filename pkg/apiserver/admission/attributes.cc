#include "kubexx/apiserver/admission/attributes.h"

#include <algorithm>
#include <string_view>

#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver::admission {
namespace {

using codec::JsonTree;

bool Names(const std::vector<std::string>& list, std::string_view wanted) {
  return std::ranges::any_of(
      list, [wanted](const std::string& one) { return one == "*" || one == wanted; });
}

bool MatchesScope(const Rule& rule, const Attributes& attributes, const Target& target) {
  if (rule.scope == "*" || rule.scope.empty()) {
    return true;
  }
  const bool of_cluster =
      attributes.namespace_.empty() ||
      (target.resource.group.empty() && target.resource.resource == "namespaces");
  return of_cluster == (rule.scope == "Cluster");
}

bool MatchesResource(const Rule& rule, std::string_view resource, std::string_view subresource) {
  return std::ranges::any_of(rule.resources, [&](std::string_view entry) {
    const std::size_t slash = entry.find('/');
    const std::string_view plural = entry.substr(0, slash);
    const std::string_view sub =
        slash == std::string_view::npos ? std::string_view() : entry.substr(slash + 1);
    return (plural == "*" || plural == resource) && (sub == "*" || sub == subresource);
  });
}

bool Selects(const JsonTree& selector, const JsonTree* object) {
  return object != nullptr && MatchesSelector(selector, MetaMap(*object, "labels"));
}

}  // namespace

bool IsEmptySelector(const JsonTree& selector) {
  const JsonTree* const labels = selector.Find("matchLabels");
  const JsonTree* const expressions = selector.Find("matchExpressions");
  return (labels == nullptr || labels->size() == 0) &&
         (expressions == nullptr || expressions->size() == 0);
}

bool MatchesRules(const std::vector<Rule>& rules, const Attributes& attributes,
                  const Target& target) {
  return std::ranges::any_of(rules, [&](const Rule& rule) {
    return MatchesScope(rule, attributes, target) && Names(rule.operations, attributes.operation) &&
           Names(rule.groups, target.resource.group) &&
           Names(rule.versions, target.resource.version) &&
           MatchesResource(rule, target.resource.resource, attributes.subresource);
  });
}

const Target* TargetFor(const Webhook& webhook, const Attributes& attributes) {
  if (MatchesRules(webhook.rules, attributes, attributes.target)) {
    return &attributes.target;
  }
  if (!webhook.equivalent) {
    return nullptr;
  }
  for (const Rule& rule : webhook.rules) {  // The first rule decides, not the first version.
    for (const Target& equivalent : attributes.equivalents) {
      if (MatchesRules({rule}, attributes, equivalent)) {
        return &equivalent;
      }
    }
  }
  return nullptr;
}

bool MatchesObjectSelector(const Webhook& webhook, const Objects& objects) {
  const JsonTree& selector = webhook.object_selector;
  return IsEmptySelector(selector) || Selects(selector, objects.object) ||
         Selects(selector, objects.old_object);
}

bool IsExempt(const Attributes& attributes) {
  return attributes.target.resource.group == "admissionregistration.k8s.io";
}

}  // namespace kubexx::apiserver::admission
