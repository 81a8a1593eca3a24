#include "kubexx/apiserver/rbac/rule.h"

#include <algorithm>
#include <utility>

#include "kubexx/apiserver/rbac/quote.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;

constexpr std::string_view kAll = "*";

bool Has(const std::vector<std::string>& list, std::string_view value) {
  return std::ranges::find(list, value) != list.end();
}
bool HasOrAll(const std::vector<std::string>& list, std::string_view value) {
  return Has(list, kAll) || Has(list, value);
}

/// Handles "*", "pods", "pods/log" and "*/log".
bool HasResource(const std::vector<std::string>& list, const Request& request) {
  return HasOrAll(list, request.FullResource()) ||
         (!request.subresource.empty() && Has(list, "*/" + request.subresource));
}

/// Handles "*", the path itself, and its beginning followed by "*".
bool HasPath(const std::vector<std::string>& list, std::string_view path) {
  return std::ranges::any_of(list, [path](std::string_view pattern) {
    return pattern == path ||
           (pattern.ends_with('*') &&
            path.starts_with(pattern.substr(0, pattern.find_last_not_of('*') + 1)));
  });
}

std::vector<std::string> StringsAt(const JsonTree& rule, std::string_view field) {
  std::vector<std::string> strings;
  if (const JsonTree* const list = rule.Find(field)) {
    for (const JsonTree& element : list->elements()) {
      if (const std::string* const text = element.AsString()) {
        strings.push_back(*text);
      }
    }
  }
  return strings;
}

void AppendField(std::string_view name, const std::vector<std::string>& list, std::string& out) {
  if (list.empty()) {
    return;
  }
  out += out.size() > 1 ? ", " : "";
  out += std::string(name) + ":[";
  for (const std::string& one : list) {
    out += (&one == list.data() ? "" : " ") + Quoted(one);
  }
  out += "]";
}

}  // namespace

bool Rule::Allows(const Request& request) const {
  if (!HasOrAll(verbs, request.verb)) {
    return false;
  }
  if (!request.is_resource()) {
    return HasPath(paths, request.path);
  }
  return HasOrAll(groups, request.group) && HasResource(resources, request) &&
         (names.empty() || Has(names, request.name));
}

std::string Rule::ToString() const {
  std::string text = "{";
  AppendField("APIGroups", groups, text);
  AppendField("Resources", resources, text);
  AppendField("NonResourceURLs", paths, text);
  AppendField("ResourceNames", names, text);
  AppendField("Verbs", verbs, text);
  return text + "}";
}

JsonTree Rule::ToJson() const {
  JsonTree rule = JsonTree::Object();
  for (const auto& [field, list] : {std::pair("verbs", &verbs),
                                    {"apiGroups", &groups},
                                    {"resources", &resources},
                                    {"resourceNames", &names},
                                    {"nonResourceURLs", &paths}}) {
    for (const std::string& one : *list) {
      rule[field].Append(one);
    }
  }
  return rule;
}

std::vector<Rule> ReadRules(const JsonTree& role) {
  std::vector<Rule> rules;
  if (const JsonTree* const list = role.Find("rules")) {
    for (const JsonTree& element : list->elements()) {
      Rule rule;
      rule.verbs = StringsAt(element, "verbs");
      rule.groups = StringsAt(element, "apiGroups");
      rule.resources = StringsAt(element, "resources");
      rule.names = StringsAt(element, "resourceNames");
      rule.paths = StringsAt(element, "nonResourceURLs");
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

}  // namespace kubexx::apiserver::rbac
