#include "kubexx/apiserver/endpoints/validation/cluster/rbac_validation.h"

#include <string>
#include <string_view>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

std::size_t SizeOfMember(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr ? 0 : found->size();
}

void CheckRule(const std::string& path, const JsonTree& rule, bool namespaced,
               FieldCauses& causes) {
  if (SizeOfMember(rule, "verbs") == 0) {
    causes.Required(path + ".verbs", "verbs must contain at least one value");
  }
  if (SizeOfMember(rule, "nonResourceURLs") > 0) {
    const std::string paths = rule.Find("nonResourceURLs")->ToJson();
    if (namespaced) {
      causes.Invalid(path + ".nonResourceURLs", paths,
                     "namespaced rules cannot apply to non-resource URLs");
    }
    if (SizeOfMember(rule, "apiGroups") + SizeOfMember(rule, "resources") +
            SizeOfMember(rule, "resourceNames") >
        0) {
      causes.Invalid(path + ".nonResourceURLs", paths,
                     "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (SizeOfMember(rule, "apiGroups") == 0) {
    causes.Required(path + ".apiGroups", "resource rules must supply at least one api group");
  }
  if (SizeOfMember(rule, "resources") == 0) {
    causes.Required(path + ".resources", "resource rules must supply at least one resource");
  }
}

void CheckSubject(const std::string& path, const JsonTree& subject, bool namespaced,
                  FieldCauses& causes) {
  const std::string_view kind = subject.TextAt("kind");
  const std::string_view group = subject.TextAt("apiGroup");
  if (subject.TextAt("name").empty()) {
    causes.Required(path + ".name");
  }
  if (kind == "ServiceAccount") {
    if (const std::string_view name = subject.TextAt("name");
        !name.empty() && !apimachinery::IsDnsSubdomain(name)) {
      causes.Invalid(
          path + ".name", JsonTree(name).ToJson(),
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
          "characters, '-' or '.', and must start and end with an alphanumeric character "
          "(e.g. 'example.com', regex used for validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    }
    if (!group.empty()) {
      causes.NotSupported(path + ".apiGroup", JsonTree(group).ToJson(), "\"\"");
    }
    if (!namespaced && subject.TextAt("namespace").empty()) {
      causes.Required(path + ".namespace");
    }
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbacGroup) {
      causes.NotSupported(path + ".apiGroup", JsonTree(group).ToJson(),
                          "\"rbac.authorization.k8s.io\"");
    }
  } else {
    causes.NotSupported(path + ".kind", JsonTree(kind).ToJson(),
                        "\"ServiceAccount\", \"User\", \"Group\"");
  }
}

/// Checks the label selectors of the roles whose rules an aggregated role has.
void CheckAggregation(const JsonTree& aggregation, FieldCauses& causes) {
  const std::string field = "aggregationRule.clusterRoleSelectors";
  const JsonTree* const selectors = aggregation.Find("clusterRoleSelectors");
  if (selectors == nullptr || selectors->elements().size() == 0) {
    causes.Required(field, "at least one clusterRoleSelector required");
    return;
  }
  for (std::size_t i = 0; i < selectors->elements().size(); ++i) {
    const std::string here = field + "[" + std::to_string(i) + "]";
    FieldCauses problems;
    CheckLabelSelector(&selectors->elements()[i], here, problems);
    if (!problems.empty()) {
      causes.AddAll(std::move(problems).Take());
      causes.Invalid(here, selectors->elements()[i].ToJson(), "invalid label selector");
    }
  }
}

}  // namespace

void CheckRole(bool namespaced, const JsonTree& object, FieldCauses& causes) {
  if (const JsonTree* const rules = object.Find("rules")) {
    for (std::size_t i = 0; i < rules->elements().size(); ++i) {
      CheckRule("rules[" + std::to_string(i) + "]", rules->elements()[i], namespaced, causes);
    }
  }
  if (const JsonTree* const aggregation = object.Find("aggregationRule")) {
    CheckAggregation(*aggregation, causes);
  }
}

void CheckRoleBinding(bool namespaced, const JsonTree* old, const JsonTree& object,
                      FieldCauses& causes) {
  const std::string group = StringAt(object, {"roleRef", "apiGroup"});
  const std::string kind = StringAt(object, {"roleRef", "kind"});
  const std::string name = StringAt(object, {"roleRef", "name"});
  if (group != kRbacGroup) {
    causes.NotSupported("roleRef.apiGroup", JsonTree(group).ToJson(),
                        "\"rbac.authorization.k8s.io\"");
  }
  if (kind != "ClusterRole" && (kind != "Role" || !namespaced)) {
    causes.NotSupported("roleRef.kind", JsonTree(kind).ToJson(),
                        namespaced ? "\"ClusterRole\", \"Role\"" : "\"ClusterRole\"");
  }
  if (name.empty()) {
    causes.Required("roleRef.name");
  } else if (name == "." || name == "..") {
    causes.Invalid("roleRef.name", JsonTree(name).ToJson(), "may not be '" + name + "'");
  } else {
    for (const char c : {'/', '%'}) {
      if (name.find(c) != std::string::npos) {
        causes.Invalid("roleRef.name", JsonTree(name).ToJson(),
                       std::string("may not contain '") + c + "'");
      }
    }
  }
  if (const JsonTree* const subjects = object.Find("subjects")) {
    for (std::size_t i = 0; i < subjects->elements().size(); ++i) {
      CheckSubject("subjects[" + std::to_string(i) + "]", subjects->elements()[i], namespaced,
                   causes);
    }
  }
  if (old != nullptr && (group != StringAt(*old, {"roleRef", "apiGroup"}) ||
                         kind != StringAt(*old, {"roleRef", "kind"}) ||
                         name != StringAt(*old, {"roleRef", "name"}))) {
    JsonTree given = JsonTree::Object();  // with the names of the Go type
    given["APIGroup"] = group;
    given["Kind"] = kind;
    given["Name"] = name;
    causes.Invalid("roleRef", given.ToJson(), "cannot change roleRef");
  }
}

void SetRoleBindingDefaults(JsonTree& object) {
  if (StringAt(object, {"roleRef", "apiGroup"}).empty()) {
    object["roleRef"]["apiGroup"] = kRbacGroup;
  }
  if (JsonTree* const subjects = object.Find("subjects")) {
    for (JsonTree& subject : subjects->elements()) {
      const std::string_view kind = subject.TextAt("kind");
      if ((kind == "User" || kind == "Group") && subject.TextAt("apiGroup").empty()) {
        subject["apiGroup"] = kRbacGroup;
      }
    }
  }
}

}  // namespace kubexx::apiserver
