#include "kubexx/apiserver/endpoints/validation/cluster/webhook_configuration.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kMaxTimeoutSeconds = 30;

void SetWhereEmpty(JsonTree& object, std::string_view member, JsonTree value) {
  JsonTree& slot = object[member];
  if (slot.IsNull() || (slot.AsString() != nullptr && slot.AsString()->empty())) {
    slot = std::move(value);
  }
}

std::string JsonOf(std::string_view text) { return JsonTree(text).ToJson(); }

/// Checks that a member, if it is given, has one of two values.
void CheckOneOf(const JsonTree& tree, const char* member,
                std::pair<const char*, const char*> values, const std::string& field,
                FieldCauses& causes) {
  const std::string_view value = tree.TextAt(member);
  if (!value.empty() && value != values.first && value != values.second) {
    causes.NotSupported(field + "." + member, JsonOf(value),
                        JsonOf(values.first) + ", " + JsonOf(values.second));
  }
}

/// A resource that covers others must be the only one: "*/*" covers all, "pods/*" the subresources
/// of pods, and "*/scale" all subresources of that name.
void CheckRuleResources(const JsonTree& rule, const std::string& field, FieldCauses& causes) {
  const std::vector<std::string> values = StringsAt(rule, "resources");
  std::set<std::string> before;  // kube-apiserver only looks at the ones before this one
  if (values.size() > 1 && std::ranges::find(values, "*/*") != values.end()) {
    causes.Invalid(field, rule.Find("resources")->ToJson(),
                   "if '*/*' is present, must not specify other resources");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t slash = values[i].find('/');
    if (slash == std::string::npos || values[i] == "*/*") {
      continue;
    }
    const std::string all = values[i].substr(0, slash) + "/*";
    const std::string of_all = "*" + values[i].substr(slash);
    for (const std::string* const wider : {&all, &of_all}) {
      if (*wider != values[i] && before.contains(*wider)) {
        causes.Invalid(field + "[" + std::to_string(i) + "]", JsonOf(values[i]),
                       "if '" + *wider + "' is present, must not specify it");
      }
    }
    before.insert(values[i]);
  }
}

void CheckRule(const JsonTree& rule, const std::string& field, FieldCauses& causes) {
  constexpr std::string_view kOperations[] = {"*", "CREATE", "UPDATE", "DELETE", "CONNECT"};
  const std::vector<std::string> operations = StringsAt(rule, "operations");
  if (operations.empty()) {
    causes.Required(field + ".operations");
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (std::ranges::find(kOperations, operations[i]) == std::end(kOperations)) {
      causes.NotSupported(field + ".operations[" + std::to_string(i) + "]", JsonOf(operations[i]),
                          R"("*", "CONNECT", "CREATE", "DELETE", "UPDATE")");
    }
  }
  if (operations.size() > 1 && std::ranges::find(operations, "*") != operations.end()) {
    causes.Invalid(field + ".operations", rule.Find("operations")->ToJson(),
                   "if '*' is present, must not specify other operations");
  }
  CheckRuleResources(rule, field + ".resources", causes);
  for (const char* const list : {"apiGroups", "apiVersions", "resources"}) {
    const std::vector<std::string> values = StringsAt(rule, list);
    if (values.empty()) {
      causes.Required(field + "." + list);
    } else if (values.size() > 1 && std::ranges::find(values, "*") != values.end() &&
               list != std::string_view("resources")) {
      causes.Invalid(field + "." + list, rule.Find(list)->ToJson(),
                     "if '*' is present, must not specify other values");
    }
  }
  const std::string_view scope = rule.TextAt("scope");
  if (!scope.empty() && scope != "*" && scope != "Cluster" && scope != "Namespaced") {
    causes.NotSupported(field + ".scope", JsonOf(scope), R"("*", "Cluster", "Namespaced")");
  }
}

void CheckHookUrl(std::string_view url, const std::string& field, FieldCauses& causes) {
  constexpr std::string_view kScheme = "https://";
  constexpr std::string_view kForm =
      "; desired format: https:/"
      "/host[:port]/path";
  const std::string form(kForm);
  if (!url.starts_with(kScheme)) {
    causes.Invalid(field, JsonOf(url.substr(0, url.find(':'))),
                   "'https' is the only allowed URL scheme" + form);
    return;
  }
  const std::string_view rest = url.substr(kScheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty()) {
    causes.Invalid(field, JsonOf(host), "host must be specified" + form);
  }
  if (host.find('@') != std::string_view::npos) {
    causes.Invalid(field, JsonOf(host.substr(0, host.find('@'))),
                   "user information is not permitted in the URL" + form);
  }
  if (rest.find('#') != std::string_view::npos) {
    causes.Invalid(field, JsonOf(rest.substr(rest.find('#') + 1)),
                   "fragments are not permitted in the URL" + form);
  } else if (rest.find('?') != std::string_view::npos) {
    causes.Invalid(field, JsonOf(rest.substr(rest.find('?') + 1)),
                   "query parameters are not permitted in the URL" + form);
  }
}

void CheckName(std::string_view name, const std::string& field, FieldCauses& causes) {
  if (name.empty()) {
    causes.Required(field);
  } else if (!apimachinery::IsDnsSubdomain(name)) {
    causes.Invalid(field, JsonOf(name), "must be a DNS subdomain");
  } else if (std::ranges::count(name, '.') < 2) {
    causes.Invalid(field, JsonOf(name),
                   "should be a domain with at least three segments separated by dots");
  }
}

void CheckWebhook(const JsonTree& webhook, const std::string& field, FieldCauses& causes) {
  if (const JsonTree* const rules = webhook.Find("rules")) {
    for (std::size_t i = 0; i < rules->elements().size(); ++i) {
      CheckRule(rules->elements()[i], field + ".rules[" + std::to_string(i) + "]", causes);
    }
  }
  for (const char* const selector : {"namespaceSelector", "objectSelector"}) {
    CheckLabelSelector(webhook.Find(selector), field + "." + selector, causes);
  }
  CheckOneOf(webhook, "failurePolicy", {"Fail", "Ignore"}, field, causes);
  CheckOneOf(webhook, "matchPolicy", {"Equivalent", "Exact"}, field, causes);
  CheckOneOf(webhook, "reinvocationPolicy", {"IfNeeded", "Never"}, field, causes);
  if (webhook.TextAt("sideEffects").empty()) {
    causes.Required(field + ".sideEffects", "must specify one of None, NoneOnDryRun");
  }
  CheckOneOf(webhook, "sideEffects", {"None", "NoneOnDryRun"}, field, causes);
  const std::vector<std::string> versions = StringsAt(webhook, "admissionReviewVersions");
  const auto is_known = [](const std::string& one) { return one == "v1" || one == "v1beta1"; };
  if (versions.empty()) {
    causes.Required(field + ".admissionReviewVersions", "must specify one of v1, v1beta1");
  } else if (std::ranges::none_of(versions, is_known)) {
    causes.Invalid(field + ".admissionReviewVersions",
                   webhook.Find("admissionReviewVersions")->ToJson(),
                   "must include at least one of v1, v1beta1");
  }
  if (const JsonTree* const timeout = webhook.Find("timeoutSeconds")) {
    const std::int64_t seconds = timeout->AsInt().value_or(0);
    if (seconds < 1 || seconds > kMaxTimeoutSeconds) {
      causes.Invalid(field + ".timeoutSeconds", timeout->ToJson(),
                     "the timeout value must be between 1 and 30 seconds");
    }
  }
  const JsonTree* const client = webhook.Find("clientConfig");
  CheckClientConfig(client == nullptr ? JsonTree::Object() : *client, field + ".clientConfig",
                    causes);
}

std::span<const JsonTree> WebhooksOf(const JsonTree& configuration) {
  const JsonTree* const list = configuration.Find("webhooks");
  return list == nullptr ? std::span<const JsonTree>() : list->elements();
}

/// Returns the webhooks so that they can be changed.
std::span<JsonTree> WebhooksIn(JsonTree& configuration) {
  JsonTree* const list = configuration.Find("webhooks");
  return list == nullptr ? std::span<JsonTree>() : list->elements();
}

/// Sets the defaults of how a webhook is called, and for which objects.
void DefaultCall(JsonTree& webhook) {
  SetWhereEmpty(webhook, "failurePolicy", "Fail");
  SetWhereEmpty(webhook, "matchPolicy", "Equivalent");
  SetWhereEmpty(webhook, "namespaceSelector", JsonTree::Object());
  SetWhereEmpty(webhook, "objectSelector", JsonTree::Object());
  SetWhereEmpty(webhook, "timeoutSeconds", 10);
}

void DefaultRulesAndPort(JsonTree& webhook) {
  if (JsonTree* const rules = webhook.Find("rules")) {
    for (JsonTree& rule : rules->elements()) {
      SetWhereEmpty(rule, "scope", "*");
    }
  }
  JsonTree* const client = webhook.Find("clientConfig");
  JsonTree* const service = client == nullptr ? nullptr : client->Find("service");
  if (service != nullptr && service->IsObject()) {
    SetWhereEmpty(*service, "port", 443);
  }
}

}  // namespace

void SetValidatingWebhookDefaults(JsonTree& configuration) {
  for (JsonTree& webhook : WebhooksIn(configuration)) {
    DefaultCall(webhook);
    DefaultRulesAndPort(webhook);
  }
}

void SetMutatingWebhookDefaults(JsonTree& configuration) {
  for (JsonTree& webhook : WebhooksIn(configuration)) {
    DefaultCall(webhook);
    SetWhereEmpty(webhook, "reinvocationPolicy", "Never");
    DefaultRulesAndPort(webhook);
  }
}

void CheckClientConfig(const JsonTree& config, const std::string& field, FieldCauses& causes) {
  const JsonTree* const url = config.Find("url");
  const JsonTree* const service = config.Find("service");
  const bool has_url = url != nullptr && url->AsString() != nullptr;
  const bool has_service = service != nullptr && service->IsObject();
  if (has_url == has_service) {
    causes.Required(field, "exactly one of url or service is required");
  } else if (has_url) {
    CheckHookUrl(*url->AsString(), field + ".url", causes);
  } else {
    for (const char* const member : {"name", "namespace"}) {
      if (service->TextAt(member).empty()) {
        causes.Required(field + ".service." + member);
      }
    }
    const std::string_view path = service->TextAt("path");
    if (!path.empty() && !path.starts_with('/')) {
      causes.Invalid(field + ".service.path", JsonOf(path), "must start with a '/'");
    }
    const JsonTree* const port = service->Find("port");
    const std::int64_t number = port == nullptr ? 443 : port->AsInt().value_or(0);
    if (number < 1 || number > 65535) {
      causes.Invalid(field + ".service.port", port->ToJson(),
                     "port is not valid: must be between 1 and 65535, inclusive");
    }
  }
}

void CheckWebhooks(const JsonTree& configuration, FieldCauses& causes) {
  std::set<std::string, std::less<>> names;
  const auto webhooks = WebhooksOf(configuration);
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const std::string field = "webhooks[" + std::to_string(i) + "]";
    const std::string name(webhooks[i].TextAt("name"));
    CheckName(name, field + ".name", causes);
    CheckWebhook(webhooks[i], field, causes);
    if (!name.empty() && !names.insert(name).second) {
      causes.Duplicate(field + ".name", JsonOf(name));
    }
    const JsonTree* const conditions = webhooks[i].Find("matchConditions");
    for (std::size_t j = 0; j < (conditions == nullptr ? 0 : conditions->elements().size()); ++j) {
      for (const char* const member : {"name", "expression"}) {
        if (conditions->elements()[j].TextAt(member).empty()) {
          causes.Required(field + ".matchConditions[" + std::to_string(j) + "]." + member);
        }
      }
    }
  }
}

std::vector<std::string> WebhookWarnings(const JsonTree& configuration) {
  std::vector<std::string> warnings;
  for (const JsonTree& webhook : WebhooksOf(configuration)) {
    const JsonTree* const conditions = webhook.Find("matchConditions");
    if (conditions != nullptr && conditions->size() > 0) {
      warnings.push_back("kubexx-apiserver evaluates no CEL: the webhook " +
                         JsonOf(webhook.TextAt("name")) +
                         " is called whatever its matchConditions say");
    }
    const std::vector<std::string> versions = StringsAt(webhook, "admissionReviewVersions");
    if (std::ranges::find(versions, "v1") == versions.end()) {
      warnings.push_back(
          "kubexx-apiserver sends AdmissionReviews of v1 only: calls of the webhook " +
          JsonOf(webhook.TextAt("name")) + " fail");
    }
  }
  return warnings;
}

}  // namespace kubexx::apiserver
