#include "kubexx/apiserver/rbac/rule.h"

#include <algorithm>
#include <utility>

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

/// "*", "pods", "pods/log" or "*/log".
bool HasResource(const std::vector<std::string>& list, const Request& request) {
  return HasOrAll(list, request.FullResource()) ||
         (!request.subresource.empty() && Has(list, "*/" + request.subresource));
}

/// "*", the path, or its beginning with a "*" behind.
bool HasPath(const std::vector<std::string>& list, std::string_view path) {
  return std::ranges::any_of(list, [path](std::string_view pattern) {
    return pattern == path ||
           (pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1)));
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
    out += (&one == list.data() ? "" : ", ") + JsonTree(one).ToJson();
  }
  out += "]";
}

/// Whether one of the rules held allows what a request with a name of its own would need; rules
/// may name "*", which only "*" covers.
bool Allowed(const std::vector<Rule>& held, const Request& request, bool all_names) {
  return std::ranges::any_of(held, [&](const Rule& rule) {
    return (!all_names || rule.names.empty()) && rule.Allows(request);
  });
}

bool CoversPaths(const std::vector<Rule>& held, const Rule& wanted, const std::string& verb) {
  return std::ranges::all_of(wanted.paths, [&](const std::string& path) {
    Request request;
    request.verb = verb;
    request.path = path;
    return Allowed(held, request, false);
  });
}

/// Each resource, with each name, by one verb.
bool CoversResources(const std::vector<Rule>& held, const Rule& wanted, const std::string& verb) {
  for (const std::string& group : wanted.groups) {
    for (const std::string& resource : wanted.resources) {
      Request request;
      request.verb = verb;
      request.group = group;
      const std::size_t slash = resource.find('/');
      request.resource = resource.substr(0, slash);
      request.subresource = slash == std::string::npos ? "" : resource.substr(slash + 1);
      if (wanted.names.empty()) {
        if (!Allowed(held, request, true)) {
          return false;
        }
        continue;
      }
      for (const std::string& name : wanted.names) {
        request.name = name;
        if (!Allowed(held, request, false)) {
          return false;
        }
      }
    }
  }
  return true;
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
         (names.empty() || (!request.name.empty() && Has(names, request.name)));
}

std::string Rule::ToString() const {
  std::string text = "{";
  AppendField("APIGroups", groups, text);
  AppendField("Resources", resources, text);
  AppendField("ResourceNames", names, text);
  AppendField("NonResourceURLs", paths, text);
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

std::vector<Rule> NotCovered(const std::vector<Rule>& held, const std::vector<Rule>& wanted) {
  std::vector<Rule> missing;
  for (const Rule& rule : wanted) {
    const bool covered = std::ranges::all_of(rule.verbs, [&](const std::string& verb) {
      return CoversPaths(held, rule, verb) && CoversResources(held, rule, verb);
    });
    if (!covered) {
      missing.push_back(rule);
    }
  }
  return missing;
}

}  // namespace kubexx::apiserver::rbac
