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

/// "*", "pods", "pods/log" or "*/log".
bool HasResource(const std::vector<std::string>& list, const Request& request) {
  return HasOrAll(list, request.FullResource()) ||
         (!request.subresource.empty() && Has(list, "*/" + request.subresource));
}

/// "*", the path, or its beginning with one "*" or more behind.
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

/// Whether the rule held gives all that a rule of one verb, group and resource does, for a name or,
/// with null, for all. A resource as it is written: "*" is given by "*" only, and "pods/" by
/// "pods/".
bool Covers(const Rule& held, const std::string& verb, const std::string& group,
            const std::string& resource, const std::string* name) {
  const std::size_t slash = resource.find('/');
  const bool by_subresource =
      slash != std::string::npos && Has(held.resources, "*" + resource.substr(slash));
  return HasOrAll(held.verbs, verb) && HasOrAll(held.groups, group) &&
         (HasOrAll(held.resources, resource) || by_subresource) &&
         (held.names.empty() || (name != nullptr && Has(held.names, *name)));
}

/// The rules of single resources and names that some verb is missing for.
class Missing {
 public:
  explicit Missing(const std::vector<Rule>& held) : held_(held) {}

  void AddPaths(const Rule& wanted) {
    for (const std::string& path : wanted.paths) {
      for (const std::string& verb : wanted.verbs) {
        if (std::ranges::none_of(held_, [&](const Rule& held) {
              return HasOrAll(held.verbs, verb) && HasPath(held.paths, path);
            })) {
          Rule rule;
          rule.verbs = {verb};
          rule.paths = {path};
          rules_.push_back(std::move(rule));
        }
      }
    }
  }
  void AddResources(const Rule& wanted) {
    for (const std::string& group : wanted.groups) {
      for (const std::string& resource : wanted.resources) {
        for (const std::string& verb : wanted.verbs) {
          if (wanted.names.empty()) {
            AddResource(verb, group, resource, nullptr);
          }
          for (const std::string& name : wanted.names) {
            AddResource(verb, group, resource, &name);
          }
        }
      }
    }
  }
  std::vector<Rule> Take() {
    std::ranges::sort(rules_, {}, &Rule::ToString);
    const auto same = std::ranges::unique(rules_);
    rules_.erase(same.begin(), same.end());
    return std::move(rules_);
  }

 private:
  /// `name` is null for all names.
  void AddResource(const std::string& verb, const std::string& group, const std::string& resource,
                   const std::string* name) {
    if (std::ranges::any_of(
            held_, [&](const Rule& held) { return Covers(held, verb, group, resource, name); })) {
      return;
    }
    Rule rule;
    rule.groups = {group};
    rule.resources = {resource};
    if (name != nullptr) {
      rule.names = {*name};
    }
    const auto known = std::ranges::find_if(rules_, [&rule](const Rule& one) {
      return one.groups == rule.groups && one.resources == rule.resources &&
             one.names == rule.names && one.paths.empty();
    });
    Rule& one = known == rules_.end() ? rules_.emplace_back(std::move(rule)) : *known;
    one.verbs.push_back(verb);
  }

  const std::vector<Rule>& held_;
  std::vector<Rule> rules_;
};

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

std::vector<Rule> NotCovered(const std::vector<Rule>& held, const std::vector<Rule>& wanted) {
  Missing missing(held);
  for (const Rule& rule : wanted) {
    missing.AddPaths(rule);
    missing.AddResources(rule);
  }
  return missing.Take();
}

}  // namespace kubexx::apiserver::rbac
