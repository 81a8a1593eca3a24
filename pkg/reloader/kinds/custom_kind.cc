#include "kubexx/reloader/kinds/custom_kind.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/kind_api.h"
#include "kubexx/reloader/settings/settings_node.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::ResourceInfo;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::size_t kMaxRules = 20;
constexpr std::size_t kMaxPathSteps = 20;
constexpr std::size_t kMaxKnownKinds = 200;
constexpr std::chrono::seconds kLeastSettledFor{1};
constexpr std::chrono::hours kMostSettledFor{24};

/// "spec.template" as members. A member whose name has dots cannot be written.
Result<FieldPath> PathOf(const SettingsNode& node) {
  KX_ASSIGN_OR_RETURN(const std::string text, node.Text());
  FieldPath path;
  std::string_view rest = text;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);  // as kubectl's JSONPath begins
  }
  while (true) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view step = rest.substr(0, dot);
    const auto is_plain = [](char c) { return base::IsAlphanumeric(c) || c == '-' || c == '_'; };
    if (step.empty() || !std::ranges::all_of(step, is_plain) || path.size() == kMaxPathSteps) {
      return node.Wrong("\"" + text +
                        "\" is not the names of members with dots between them, such as "
                        "spec.template");
    }
    path.emplace_back(step);
    if (dot == rest.size()) {
      return path;
    }
    rest.remove_prefix(dot + 1);
  }
}

/// A text, a number or a boolean, as JSON writes it without quotes.
Result<std::string> ScalarOf(const SettingsNode& node) {
  if (!node.exists() || node.tree().IsArray() || node.tree().IsObject()) {
    return node.Wrong("must be a text, a number, true or false");
  }
  const std::string* text = node.tree().AsString();
  return text == nullptr ? node.tree().ToJson() : *text;
}

Result<StatusRule> RuleOf(const SettingsNode& node) {
  KX_RETURN_IF_ERROR(
      node.CheckMembers({"condition", "status", "reason", "field", "value", "sameAs"}));
  StatusRule rule;
  const bool is_field = node.At("field").exists();
  if (is_field == node.At("condition").exists()) {
    return node.Wrong("must have either a condition or a field");
  }
  if (!is_field) {
    for (const char* other : {"value", "sameAs"}) {
      if (node.At(other).exists()) {
        return node.At(other).Wrong("belongs to a rule about a field");
      }
    }
    KX_ASSIGN_OR_RETURN(rule.condition, node.At("condition").Text());
    if (rule.condition.empty()) {
      return node.At("condition").Wrong("must not be empty");
    }
    if (node.At("status").exists()) {
      KX_ASSIGN_OR_RETURN(rule.status, ScalarOf(node.At("status")));
      if (base::ToLower(rule.status) == "true" || base::ToLower(rule.status) == "false") {
        rule.status = base::ToLower(rule.status) == "true" ? "True" : "False";  // YAML's booleans
      } else if (rule.status != "Unknown") {
        return node.At("status").Wrong("must be \"True\", \"False\" or \"Unknown\"");
      }
    }
    KX_ASSIGN_OR_RETURN(rule.reason, node.At("reason").Text());
    return rule;
  }
  for (const char* other : {"status", "reason"}) {
    if (node.At(other).exists()) {
      return node.At(other).Wrong("belongs to a rule about a condition");
    }
  }
  KX_ASSIGN_OR_RETURN(rule.field, PathOf(node.At("field")));
  if (node.At("value").exists() == node.At("sameAs").exists()) {
    return node.Wrong("must have either a value or sameAs");
  }
  if (node.At("sameAs").exists()) {
    KX_ASSIGN_OR_RETURN(rule.same_as, PathOf(node.At("sameAs")));
  } else {
    KX_ASSIGN_OR_RETURN(rule.value, ScalarOf(node.At("value")));
  }
  return rule;
}

Result<std::vector<StatusRule>> RulesOf(const SettingsNode& node) {
  std::vector<StatusRule> rules;
  if (!node.exists()) {
    return rules;
  }
  KX_RETURN_IF_ERROR(node.CheckList(1, kMaxRules, "rules"));
  for (std::size_t i = 0; i < node.tree().size(); ++i) {
    KX_ASSIGN_OR_RETURN(StatusRule rule, RuleOf(node.At(i)));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::optional<base::Duration>> SettledForOf(const SettingsNode& node) {
  if (!node.exists()) {
    return std::optional<base::Duration>();
  }
  KX_ASSIGN_OR_RETURN(const std::string text, node.Text());
  const auto time = apimachinery::Duration::Parse(text);
  const base::Duration length = std::chrono::nanoseconds(time ? time->nanos : 0);
  if (length < kLeastSettledFor || length > kMostSettledFor) {
    return node.Wrong("\"" + text + "\" is no time from 1s to 24h, such as 2m");
  }
  return std::optional(length);
}

Result<CustomKind> KindOf(const SettingsNode& node) {
  KX_RETURN_IF_ERROR(node.CheckMembers(
      {"group", "version", "kind", "resource", "podTemplate", "done", "failed", "settledFor"}));
  KX_ASSIGN_OR_RETURN(KindApi api, ReadKindApi(node, {.group = "apps.kruise.io",
                                                      .version = "v1alpha1",
                                                      .kind = "CloneSet",
                                                      .resource = "clonesets"}));
  CustomKind kind{.group = std::move(api.group),
                  .version = std::move(api.version),
                  .kind = std::move(api.kind),
                  .resource = std::move(api.resource)};
  if (node.At("podTemplate").exists()) {
    KX_ASSIGN_OR_RETURN(kind.pod_template, PathOf(node.At("podTemplate")));
    if (kind.pod_template.front() != "spec") {
      return node.At("podTemplate").Wrong("must begin with spec");
    }
  }
  KX_ASSIGN_OR_RETURN(kind.done, RulesOf(node.At("done")));
  KX_ASSIGN_OR_RETURN(kind.failed, RulesOf(node.At("failed")));
  KX_ASSIGN_OR_RETURN(kind.settled_for, SettledForOf(node.At("settledFor")));
  if (kind.settled_for && kind.done.empty() && kind.failed.empty()) {
    return node.At("settledFor").Wrong("is about rules, and there are none");
  }
  return kind;
}

/// What has been installed.
struct Installed {
  std::vector<CustomKind> kinds{};
  std::vector<ResourceInfo> resources{};
};

const Installed& NothingInstalled() {
  static const Installed nothing;
  return nothing;
}

std::atomic<const Installed*>& Present() {
  static std::atomic<const Installed*> present{&NothingInstalled()};
  return present;
}

}  // namespace

ResourceInfo CustomKind::Resource() const { return {group, version, kind, resource, true}; }

Result<std::vector<CustomKind>> ParseCustomKinds(std::string_view yaml,
                                                 const std::vector<ResourceInfo>& own) {
  std::vector<CustomKind> kinds;
  if (yaml.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return kinds;
  }
  KX_ASSIGN_OR_RETURN(const JsonTree tree, ParseSettings(yaml));
  const SettingsNode root(tree);
  KX_RETURN_IF_ERROR(root.CheckList(0, kMaxCustomKinds, "kinds"));
  for (std::size_t i = 0; i < tree.size(); ++i) {
    KX_ASSIGN_OR_RETURN(CustomKind kind, KindOf(root.At(i)));
    const KindApi api{kind.group, kind.version, kind.kind, kind.resource};
    std::vector<ResourceInfo> others;
    for (const CustomKind& other : kinds) {
      others.push_back(other.Resource());
    }
    KX_RETURN_IF_ERROR(CheckKindNames(root.At(i), api, own, others));
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

void AddCustomKinds(const std::vector<CustomKind>& kinds, Precedence precedence) {
  static base::Mutex mu;
  // Each list stays, because views of its texts are everywhere.
  static std::vector<std::unique_ptr<const Installed>> all;
  const base::MutexLock lock(mu);
  auto installed = std::make_unique<Installed>();
  installed->kinds = Present().load()->kinds;
  for (const CustomKind& kind : kinds) {
    const auto known = std::ranges::find(installed->kinds, kind.kind, &CustomKind::kind);
    if (known != installed->kinds.end()) {
      *known = precedence == Precedence::kNew ? kind : *known;
    } else if (installed->kinds.size() < kMaxKnownKinds) {
      installed->kinds.push_back(kind);
    }
  }
  if (installed->kinds == Present().load()->kinds) {
    return;
  }
  for (const CustomKind& kind : installed->kinds) {
    installed->resources.push_back(kind.Resource());
  }
  Present().store(installed.get());
  all.push_back(std::move(installed));
}

const std::vector<CustomKind>& CustomKinds() { return Present().load()->kinds; }

const std::vector<ResourceInfo>& CustomResources() { return Present().load()->resources; }

}  // namespace kubexx::reloader
