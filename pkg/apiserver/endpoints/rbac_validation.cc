#include "kubexx/apiserver/endpoints/rbac_validation.h"

#include <string>
#include <string_view>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using Causes = std::vector<StatusCause>;

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

bool IsRbacBinding(const ResourceType& type) {
  return type.group == kRbacGroup && type.plural.ends_with("bindings");
}

void Require(std::string field, std::string_view why, Causes& causes) {
  causes.push_back(
      {.reason = "FieldValueRequired",
       .message = "Required value" + std::string(why.empty() ? "" : ": ") + std::string(why),
       .field = std::move(field)});
}

/// `supported` as in messages: `"A", "B"`.
void NotSupported(std::string field, std::string_view value, std::string_view supported,
                  Causes& causes) {
  causes.push_back({.reason = "FieldValueNotSupported",
                    .message = "Unsupported value: " + JsonTree(value).ToJson() +
                               ": supported values: " + std::string(supported),
                    .field = std::move(field)});
}

void RefuseValue(std::string field, const std::string& value, std::string_view why,
                 Causes& causes) {
  causes.push_back({.reason = "FieldValueInvalid",
                    .message = "Invalid value: " + value + ": " + std::string(why),
                    .field = std::move(field)});
}

std::size_t SizeAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr ? 0 : found->size();
}

void CheckRule(const std::string& path, const JsonTree& rule, bool namespaced, Causes& causes) {
  if (SizeAt(rule, "verbs") == 0) {
    Require(path + ".verbs", "verbs must contain at least one value", causes);
  }
  if (SizeAt(rule, "nonResourceURLs") > 0) {
    const std::string paths = rule.Find("nonResourceURLs")->ToJson();
    if (namespaced) {
      RefuseValue(path + ".nonResourceURLs", paths,
                  "namespaced rules cannot apply to non-resource URLs", causes);
    }
    if (SizeAt(rule, "apiGroups") + SizeAt(rule, "resources") + SizeAt(rule, "resourceNames") > 0) {
      RefuseValue(path + ".nonResourceURLs", paths,
                  "rules cannot apply to both regular resources and non-resource URLs", causes);
    }
    return;
  }
  if (SizeAt(rule, "apiGroups") == 0) {
    Require(path + ".apiGroups", "resource rules must supply at least one api group", causes);
  }
  if (SizeAt(rule, "resources") == 0) {
    Require(path + ".resources", "resource rules must supply at least one resource", causes);
  }
}

void CheckSubject(const std::string& path, const JsonTree& subject, bool namespaced,
                  Causes& causes) {
  const std::string_view kind = subject.TextAt("kind");
  const std::string_view group = subject.TextAt("apiGroup");
  if (subject.TextAt("name").empty()) {
    Require(path + ".name", "", causes);
  }
  if (kind == "ServiceAccount") {
    if (const std::string_view name = subject.TextAt("name");
        !name.empty() && !apimachinery::IsDnsSubdomain(name)) {
      RefuseValue(path + ".name", JsonTree(name).ToJson(),
                  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                  "characters, '-' or '.', and must start and end with an alphanumeric character "
                  "(e.g. 'example.com', regex used for validation is "
                  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                  causes);
    }
    if (!group.empty()) {
      NotSupported(path + ".apiGroup", group, "\"\"", causes);
    }
    if (!namespaced && subject.TextAt("namespace").empty()) {
      Require(path + ".namespace", "", causes);
    }
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbacGroup) {
      NotSupported(path + ".apiGroup", group, "\"rbac.authorization.k8s.io\"", causes);
    }
  } else {
    NotSupported(path + ".kind", kind, "\"ServiceAccount\", \"User\", \"Group\"", causes);
  }
}

void CheckBinding(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                  Causes& causes) {
  const std::string group = StringAt(object, {"roleRef", "apiGroup"});
  const std::string kind = StringAt(object, {"roleRef", "kind"});
  const std::string name = StringAt(object, {"roleRef", "name"});
  if (group != kRbacGroup) {
    NotSupported("roleRef.apiGroup", group, "\"rbac.authorization.k8s.io\"", causes);
  }
  if (kind != "ClusterRole" && (kind != "Role" || !type.namespaced)) {
    NotSupported("roleRef.kind", kind,
                 type.namespaced ? "\"ClusterRole\", \"Role\"" : "\"ClusterRole\"", causes);
  }
  if (name.empty()) {
    Require("roleRef.name", "", causes);
  } else if (name == "." || name == "..") {
    RefuseValue("roleRef.name", JsonTree(name).ToJson(), "may not be '" + name + "'", causes);
  } else {
    for (const char c : {'/', '%'}) {
      if (name.find(c) != std::string::npos) {
        RefuseValue("roleRef.name", JsonTree(name).ToJson(),
                    std::string("may not contain '") + c + "'", causes);
      }
    }
  }
  if (const JsonTree* const subjects = object.Find("subjects")) {
    for (std::size_t i = 0; i < subjects->elements().size(); ++i) {
      CheckSubject("subjects[" + std::to_string(i) + "]", subjects->elements()[i], type.namespaced,
                   causes);
    }
  }
  if (old != nullptr && (group != StringAt(*old, {"roleRef", "apiGroup"}) ||
                         kind != StringAt(*old, {"roleRef", "kind"}) ||
                         name != StringAt(*old, {"roleRef", "name"}))) {
    JsonTree given = JsonTree::Object();  // With the names of the type in Go.
    given["APIGroup"] = group;
    given["Kind"] = kind;
    given["Name"] = name;
    RefuseValue("roleRef", given.ToJson(), "cannot change roleRef", causes);
  }
}

}  // namespace

void CheckRbac(const ResourceType& type, const JsonTree* old, const JsonTree& object,
               Causes& causes) {
  if (IsRbacBinding(type)) {
    CheckBinding(type, old, object, causes);
  } else if (type.group == kRbacGroup) {
    if (const JsonTree* const rules = object.Find("rules")) {
      for (std::size_t i = 0; i < rules->elements().size(); ++i) {
        CheckRule("rules[" + std::to_string(i) + "]", rules->elements()[i], type.namespaced,
                  causes);
      }
    }
  }
}

void SetRbacDefaults(const ResourceType& type, JsonTree& object) {
  if (!IsRbacBinding(type)) {
    return;
  }
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
