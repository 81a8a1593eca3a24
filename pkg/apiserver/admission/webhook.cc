#include "kubexx/apiserver/admission/webhook.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver::admission {
namespace {

using codec::JsonTree;

JsonTree ObjectAt(const JsonTree& tree, std::string_view member) {
  const JsonTree* const found = tree.Find(member);
  return found == nullptr ? JsonTree::Object() : *found;
}

Rule ReadRule(const JsonTree& tree) {
  Rule rule{.operations = StringsAt(tree, "operations"),
            .groups = StringsAt(tree, "apiGroups"),
            .versions = StringsAt(tree, "apiVersions"),
            .resources = StringsAt(tree, "resources")};
  if (const std::string_view scope = tree.TextAt("scope"); !scope.empty()) {
    rule.scope = scope;
  }
  return rule;
}

Webhook ReadWebhook(const JsonTree& tree) {
  Webhook webhook;
  webhook.name = tree.TextAt("name");
  webhook.client = ReadClientConfig(ObjectAt(tree, "clientConfig"));
  if (const JsonTree* const rules = tree.Find("rules")) {
    for (const JsonTree& rule : rules->elements()) {
      webhook.rules.push_back(ReadRule(rule));
    }
  }
  const std::vector<std::string> versions = StringsAt(tree, "admissionReviewVersions");
  webhook.takes_v1 = std::ranges::find(versions, "v1") != versions.end();
  webhook.ignores_failures = tree.TextAt("failurePolicy") == "Ignore";
  webhook.equivalent = tree.TextAt("matchPolicy") != "Exact";
  webhook.namespace_selector = ObjectAt(tree, "namespaceSelector");
  webhook.object_selector = ObjectAt(tree, "objectSelector");
  webhook.selects = IsSelector(webhook.namespace_selector) && IsSelector(webhook.object_selector);
  const std::string_view effects = tree.TextAt("sideEffects");
  webhook.has_side_effects = effects != "None" && effects != "NoneOnDryRun";
  if (const JsonTree* const seconds = tree.Find("timeoutSeconds")) {
    webhook.timeout = std::chrono::seconds(seconds->AsInt().value_or(webhook.timeout.count()));
  }
  webhook.reinvoked = tree.TextAt("reinvocationPolicy") == "IfNeeded";
  return webhook;
}

}  // namespace

std::vector<Webhook> ReadWebhooks(const JsonTree& configuration) {
  std::vector<Webhook> webhooks;
  if (const JsonTree* const list = configuration.Find("webhooks")) {
    for (const JsonTree& tree : list->elements()) {
      webhooks.push_back(ReadWebhook(tree));
      webhooks.back().configuration = MetaString(configuration, "name");
    }
  }
  return webhooks;
}

}  // namespace kubexx::apiserver::admission
