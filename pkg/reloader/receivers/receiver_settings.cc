#include "kubexx/reloader/receivers/receiver_settings.h"

#include <algorithm>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/settings/settings_node.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::size_t kMaxSettingsBytes = 1 << 20;
constexpr std::size_t kMaxReceivers = 50;
constexpr std::size_t kMaxPatterns = 1000;
constexpr std::size_t kMaxClusterName = 100;
constexpr std::int64_t kMaxAfter = 10'000;
constexpr std::size_t kChatAfter = 20;
constexpr base::Duration kShortestInterval = std::chrono::seconds(1);
constexpr base::Duration kLongestInterval = std::chrono::hours(24);

Result<std::vector<std::string>> PatternsOf(const SettingsNode& node) {
  std::vector<std::string> patterns;
  if (!node.exists()) {
    return patterns;
  }
  KX_RETURN_IF_ERROR(node.CheckList(1, kMaxPatterns, "patterns"));
  for (std::size_t i = 0; i < node.tree().size(); ++i) {
    KX_ASSIGN_OR_RETURN(std::string pattern, node.At(i).Text());
    if (pattern.empty()) {
      return node.At(i).Wrong("must not be empty");
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

template <class Range, class NameOf>
std::string Names(const Range& values, NameOf name_of) {
  std::string names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    names += (i == 0                   ? ""
              : i + 1 == values.size() ? " and "
                                       : ", ") +
             std::string(name_of(values[i]));
  }
  return names;
}

Result<ReceiverType> ReceiverTypeOf(const SettingsNode& node) {
  KX_ASSIGN_OR_RETURN(const std::string name, node.Text());
  const auto found = std::ranges::find(kReceiverTypes, name, ReceiverTypeName);
  if (found == kReceiverTypes.end()) {
    return node.Wrong("\"" + name + "\" is none of " + Names(kReceiverTypes, ReceiverTypeName));
  }
  return *found;
}

Result<std::set<Severity>> SeveritiesOf(const SettingsNode& node, ReceiverType type) {
  if (!node.exists()) {
    // One annotation for each rollout is what Grafana is for.
    return type == ReceiverType::kGrafana
               ? std::set<Severity>{Severity::kInfo}
               : std::set<Severity>(kSeverities.begin(), kSeverities.end());
  }
  std::set<Severity> severities;
  if (!node.tree().IsArray() || node.tree().size() == 0) {
    return node.Wrong("must be a list of some of " + Names(kSeverities, SeverityName));
  }
  for (std::size_t i = 0; i < node.tree().size(); ++i) {
    KX_ASSIGN_OR_RETURN(const std::string name, node.At(i).Text());
    const auto found = std::ranges::find(kSeverities, name, SeverityName);
    if (found == kSeverities.end()) {
      return node.At(i).Wrong("\"" + name + "\" is none of " + Names(kSeverities, SeverityName));
    }
    severities.insert(*found);
  }
  return severities;
}

Result<std::vector<std::pair<std::string, std::string>>> HeadersOf(const SettingsNode& node) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (!node.exists()) {
    return headers;
  }
  if (!node.tree().IsObject()) {
    return node.Wrong("must be an object of names and values");
  }
  for (const JsonTree::Member& member : node.tree().members()) {
    const SettingsNode value = node.At(member.key);
    const std::string name = base::ToLower(member.key);
    if (name == "content-type" || name == "content-length" || name == "host" ||
        name == "transfer-encoding" || name == "connection") {
      return value.Wrong("is set by the operator");
    }
    KX_ASSIGN_OR_RETURN(std::string text, value.Text());
    if (text.empty()) {
      return value.Wrong("must not be empty");
    }
    headers.emplace_back(member.key, std::move(text));
  }
  return headers;
}

Result<StormLimits> StormLimitsOf(const SettingsNode& node, ReceiverType type) {
  StormLimits limits;
  if (type != ReceiverType::kCloudEvents && type != ReceiverType::kGrafana) {
    limits.after = kChatAfter;
  }
  if (!node.exists()) {
    return limits;
  }
  KX_RETURN_IF_ERROR(node.CheckMembers({"after", "every"}));
  if (const SettingsNode after = node.At("after"); after.exists()) {
    const auto number = after.tree().AsInt();
    if (!number || *number < 0 || *number > kMaxAfter) {
      return after.Wrong("must be a number between 0 and " + std::to_string(kMaxAfter));
    }
    limits.after = static_cast<std::size_t>(*number);
  } else {
    limits.after = limits.after.value_or(kChatAfter);
  }
  if (const SettingsNode every = node.At("every"); every.exists()) {
    KX_ASSIGN_OR_RETURN(const std::string text, every.Text());
    const auto duration = reloadpolicy::ParseDuration(text, kShortestInterval, kLongestInterval);
    if (!duration) {
      return every.Wrong(duration.error().message);
    }
    limits.every = *duration;
  }
  return limits;
}

Result<std::string> UrlOf(const SettingsNode& node) {
  KX_ASSIGN_OR_RETURN(std::string url, node.Text());
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return node.Wrong("must begin with http:// or https://");  // and is never shown
  }
  return url;
}

Result<std::string> ReceiverNameOf(const SettingsNode& node) {
  KX_ASSIGN_OR_RETURN(std::string name, node.Text());
  if (!apimachinery::IsDnsLabel(name)) {
    return node.Wrong("\"" + name +
                      "\" is no name: it must consist of at most 63 small letters, digits and "
                      "dashes");
  }
  if (name == "alert" || name == "webhook") {
    return node.Wrong("\"" + name + "\" has another meaning in the metrics");
  }
  return name;
}

Result<ReceiverSettings> ReceiverOf(const SettingsNode& node) {
  KX_RETURN_IF_ERROR(
      node.CheckMembers({"name", "type", "url", "headers", "proxy", "caFile", "severities",
                         "namespaces", "policies", "digest", "batches"}));
  ReceiverSettings receiver;
  KX_ASSIGN_OR_RETURN(receiver.name, ReceiverNameOf(node.At("name")));
  KX_ASSIGN_OR_RETURN(receiver.type, ReceiverTypeOf(node.At("type")));
  KX_ASSIGN_OR_RETURN(receiver.url, UrlOf(node.At("url")));
  KX_ASSIGN_OR_RETURN(receiver.headers, HeadersOf(node.At("headers")));
  KX_ASSIGN_OR_RETURN(receiver.proxy, node.At("proxy").Text());
  KX_ASSIGN_OR_RETURN(receiver.ca_file, node.At("caFile").Text());
  KX_ASSIGN_OR_RETURN(receiver.severities, SeveritiesOf(node.At("severities"), receiver.type));
  KX_ASSIGN_OR_RETURN(receiver.namespaces, PatternsOf(node.At("namespaces")));
  KX_ASSIGN_OR_RETURN(receiver.policies, PatternsOf(node.At("policies")));
  KX_ASSIGN_OR_RETURN(receiver.digest, StormLimitsOf(node.At("digest"), receiver.type));
  if (const SettingsNode batches = node.At("batches"); batches.exists()) {
    if (receiver.type != ReceiverType::kCloudEvents) {
      return batches.Wrong("only a receiver of the type CloudEvents has batches");
    }
    const auto value = batches.tree().AsBool();
    if (!value) {
      return batches.Wrong("must be true or false");
    }
    receiver.batches = *value;
  }
  return receiver;
}

}  // namespace

std::string_view ReceiverTypeName(ReceiverType type) {
  constexpr std::array<std::string_view, kReceiverTypes.size()> kNames{
      "Slack", "Teams", "GoogleChat", "CloudEvents", "Grafana", "Text"};
  return kNames[static_cast<std::size_t>(type)];
}

bool ReceiverSettings::Wants(const Notification& notification) const {
  const auto matches = [](const std::vector<std::string>& patterns, std::string_view text) {
    return std::ranges::any_of(patterns, [text](const std::string& pattern) {
      return reloadpolicy::MatchesPattern(pattern, text);
    });
  };
  if (!severities.contains(notification.severity)) {
    return false;
  }
  if (!namespaces.empty() &&
      (notification.namespace_.empty() || !matches(namespaces, notification.namespace_))) {
    return false;
  }
  return policies.empty() ||
         std::ranges::any_of(notification.policies, [&](const reloadpolicy::PolicyId& policy) {
           return matches(policies, policy.ToString());
         });
}

Result<NotificationSettings> ParseNotificationSettings(std::string_view yaml) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, ParseSettings(yaml));
  const SettingsNode root(tree);
  KX_RETURN_IF_ERROR(root.CheckMembers({"cluster", "receivers"}));
  NotificationSettings settings;
  KX_ASSIGN_OR_RETURN(settings.cluster, root.At("cluster").Text());
  if (settings.cluster.size() > kMaxClusterName) {
    return root.At("cluster").Wrong("must have at most " + std::to_string(kMaxClusterName) +
                                    " bytes");
  }
  const SettingsNode receivers = root.At("receivers");
  KX_RETURN_IF_ERROR(receivers.CheckList(1, kMaxReceivers, "receivers"));
  for (std::size_t i = 0; i < receivers.tree().size(); ++i) {
    KX_ASSIGN_OR_RETURN(ReceiverSettings receiver, ReceiverOf(receivers.At(i)));
    if (std::ranges::find(settings.receivers, receiver.name, &ReceiverSettings::name) !=
        settings.receivers.end()) {
      return receivers.At(i).At("name").Wrong("another receiver has the name \"" + receiver.name +
                                              "\", too");
    }
    settings.receivers.push_back(std::move(receiver));
  }
  return settings;
}

Result<NotificationSettings> LoadNotificationSettings(const std::string& path) {
  KX_ASSIGN_OR_RETURN(const std::string text,
                      apimachinery::ReadFile(path, {.max_bytes = kMaxSettingsBytes}));
  auto settings = ParseNotificationSettings(text);
  if (!settings) {
    return Fail(Reason::kInvalidConfig, path + ": " + settings.error().message);
  }
  return settings;
}

}  // namespace kubexx::reloader
