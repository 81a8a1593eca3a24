#include "kubexx/reloader/observe/cluster_status.h"

#include <algorithm>
#include <utility>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/reloader/observe/one_line.h"
#include "kubexx/reloader/restore/restore_standing.h"
#include "kubexx/reloadpolicy/failed_data.h"

namespace kubexx::reloader {
namespace {

using apimachinery::OrEmpty;
using codec::JsonTree;

/// Returns the condition's message if the condition has the status `status`, and otherwise an empty
/// text.
template <class Conditions>
std::string MessageIf(const Conditions& conditions, std::string_view type,
                      std::string_view status) {
  const auto* found = controller::FindCondition(conditions, type);
  return found == nullptr || found->status != status ? std::string()
         : found->message.empty()                    ? found->reason
                                                     : found->message;
}

template <class Policy>
PolicyStanding Read(const Policy& policy, std::string name) {
  PolicyStanding standing{.name = std::move(name), .is_paused = policy.spec.paused.value_or(false)};
  if (!policy.status) {
    return standing;
  }
  const auto& status = *policy.status;
  standing.is_seen = status.observed_generation.value_or(0) == policy.metadata.generation &&
                     status.observed_generation.has_value();
  standing.invalid = MessageIf(status.conditions, "Ready", "False");
  standing.stopped = MessageIf(status.conditions, "Stopped", "True");
  standing.active = status.active.value_or(0);
  standing.pending = status.pending.value_or(0);
  standing.failed = status.failed.value_or(0);
  for (const auto& each : OrEmpty(status.pending_rollouts)) {
    standing.waiting.push_back({.workload = each.workload,
                                .reason = each.reason,
                                .message = each.message.value_or(""),
                                .since = each.since ? each.since->ToString() : std::string(),
                                .until = each.until ? each.until->ToString() : std::string()});
  }
  for (const auto& each : OrEmpty(status.failed_rollouts)) {
    standing.failures.push_back({each.workload, each.rolled_at.ToString()});
  }
  for (const auto& each : OrEmpty(status.failed_waves)) {
    PolicyStanding::FailedWave& failed = standing.failed_waves.emplace_back(
        PolicyStanding::FailedWave{.workload = each.workload, .since = each.since.ToString()});
    for (const std::string& version : each.data) {
      const std::string source = reloadpolicy::SourcesOf({version});
      if (!source.empty() && std::ranges::find(failed.sources, source) == failed.sources.end()) {
        failed.sources.push_back(source);
      }
    }
  }
  standing.restored = MessageIf(status.conditions, "Restored", "True");
  if (const auto* found = controller::FindCondition(OrEmpty(status.conditions), "Restored");
      found != nullptr && found->status == "False" && found->reason != kNothingToRestore) {
    standing.not_restored = found->reason + ": " + found->message;
  }
  return standing;
}

std::string Listed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

std::string LineOf(const PolicyStanding& policy) {
  return policy.name + ": " +
         (policy.is_seen ? "" : "no operator has looked at its present state; ") +
         (policy.is_paused ? "paused; " : "") + std::to_string(policy.active) + " under way, " +
         std::to_string(policy.pending) + (policy.pending == 1 ? " waits, " : " wait, ") +
         std::to_string(policy.failed) + " failed\n";
}

std::string WaitingLine(const PolicyStanding::Waiting& waiting) {
  return "    " + waiting.workload + " waits" +
         (waiting.since.empty() ? "" : " since " + waiting.since) +
         (waiting.until.empty() ? "" : " until " + waiting.until) + ": " + waiting.reason +
         (waiting.message.empty() ? "" : ": " + ToOneLine(waiting.message)) + "\n";
}

}  // namespace

JsonTree StandingTree(const PolicyStanding& policy) {
  JsonTree tree = JsonTree::Object();
  tree["policy"] = policy.name;
  tree["seen"] = policy.is_seen;
  tree["paused"] = policy.is_paused;
  tree["invalid"] = policy.invalid;
  tree["stopped"] = policy.stopped;
  tree["active"] = policy.active;
  tree["pending"] = policy.pending;
  tree["failed"] = policy.failed;
  tree["waiting"] = JsonTree::Array();
  for (const PolicyStanding::Waiting& each : policy.waiting) {
    JsonTree& item = tree["waiting"].Append(JsonTree::Object());
    item["workload"] = each.workload;
    item["reason"] = each.reason;
    item["message"] = each.message;
    item["since"] = each.since;
    item["until"] = each.until;
  }
  tree["failures"] = JsonTree::Array();
  for (const PolicyStanding::Failed& each : policy.failures) {
    JsonTree& item = tree["failures"].Append(JsonTree::Object());
    item["workload"] = each.workload;
    item["rolledAt"] = each.rolled_at;
  }
  tree["failedWaves"] = JsonTree::Array();
  for (const PolicyStanding::FailedWave& each : policy.failed_waves) {
    JsonTree& item = tree["failedWaves"].Append(JsonTree::Object());
    item["workload"] = each.workload;
    item["sources"] = JsonTree::Array();
    for (const std::string& source : each.sources) {
      item["sources"].Append(source);
    }
    item["since"] = each.since;
  }
  tree["restored"] = policy.restored;
  tree["notRestored"] = policy.not_restored;
  return tree;
}

PolicyStanding StandingOf(const reloadpolicy::v1alpha1::ReloadPolicy& policy) {
  return Read(policy, "ReloadPolicy " + policy.metadata.namespace_ + "/" + policy.metadata.name);
}

PolicyStanding StandingOf(const reloadpolicy::v1alpha1::ClusterReloadPolicy& policy) {
  return Read(policy, "ClusterReloadPolicy " + policy.metadata.name);
}

std::string ToText(const ClusterStatus& status) {
  std::string text;
  for (const std::string& name : status.operators) {
    text += name.ends_with('/') ? "Operator: in namespace " + name.substr(0, name.size() - 1) + "\n"
                                : "Operator: Deployment " + name + "\n";
  }
  if (status.operators.empty()) {
    text +=
        "Operator: none has published itself in a ConfigMap reloader-meta-info that you may "
        "read\n";
  }
  if (status.policies.empty()) {
    text += "Policies: none\n";
  }
  for (const std::string& each : status.not_installed) {
    text += each + ": their CRD is not installed, so there are none\n";
  }
  for (const PolicyStanding& policy : status.policies) {
    text += LineOf(policy);
    if (!policy.invalid.empty()) {
      text += "    cannot be understood: " + policy.invalid + "\n";
    }
    if (!policy.stopped.empty()) {
      text += "    stopped: " + policy.stopped + "\n";
    }
    for (const PolicyStanding::Waiting& each : policy.waiting) {
      text += WaitingLine(each);
    }
    for (const PolicyStanding::Failed& each : policy.failures) {
      text += "    " + each.workload +
              " has failed, and has not been healthy since; rolled last at " + each.rolled_at +
              "\n";
    }
    for (const PolicyStanding::FailedWave& each : policy.failed_waves) {
      text += "    " + each.workload + " has failed in a wave since " + each.since + " for " +
              Listed(each.sources) + ", which holds others back from these data\n";
    }
    if (!policy.restored.empty()) {
      text += "    restored: " + ToOneLine(policy.restored) + "\n";
    }
    if (!policy.not_restored.empty()) {
      text += "    not restored: " + ToOneLine(policy.not_restored) + "\n";
    }
  }
  for (const std::string& each : status.unknown) {
    text += "Not known: " + each + "\n";
  }
  return text;
}

std::string ToJson(const ClusterStatus& status) {
  JsonTree tree = JsonTree::Object();
  for (const auto& [name, texts] :
       {std::pair("operators", &status.operators), std::pair("unknown", &status.unknown),
        std::pair("notInstalled", &status.not_installed)}) {
    tree[name] = JsonTree::Array();
    for (const std::string& text : *texts) {
      tree[name].Append(text);
    }
  }
  tree["policies"] = JsonTree::Array();
  for (const PolicyStanding& policy : status.policies) {
    tree["policies"].Append(StandingTree(policy));
  }
  return tree.ToJson() + "\n";
}

}  // namespace kubexx::reloader
