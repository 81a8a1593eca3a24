#include "kubexx/reloader/receivers/receiver_settings.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>

#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"

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

/// A value in the file and where it is.
struct Node {
  const JsonTree* tree;
  std::string path;

  apimachinery::Error Wrong(const std::string& what) const {
    return Fail(Reason::kInvalidConfig, path.empty() ? what : path + ": " + what);
  }
  Node At(std::string_view key) const {
    return {tree->Find(key), path + (path.empty() ? "" : ".") + std::string(key)};
  }
  Node At(std::size_t index) const {
    return {&tree->elements()[index], path + "[" + std::to_string(index) + "]"};
  }
  /// A member that is null counts as absent.
  bool exists() const { return tree != nullptr && !tree->IsNull(); }
};

Result<void> CheckMembers(const Node& node, std::initializer_list<std::string_view> known) {
  if (!node.tree->IsObject()) {
    return node.Wrong("must be an object");
  }
  for (const JsonTree::Member& member : node.tree->members()) {
    if (std::ranges::find(known, member.key) == known.end()) {
      std::string names;
      for (const std::string_view name : known) {
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      return node.Wrong("there is no member \"" + member.key + "\"; the members are " + names);
    }
  }
  return {};
}

/// The text at `node`; empty when there is none.
Result<std::string> TextOfNode(const Node& node) {
  if (!node.exists()) {
    return std::string();
  }
  const std::string* text = node.tree->AsString();
  if (text == nullptr) {
    return node.Wrong("must be a text");
  }
  return *text;
}

Result<std::vector<std::string>> PatternsOf(const Node& node) {
  std::vector<std::string> patterns;
  if (!node.exists()) {
    return patterns;
  }
  if (!node.tree->IsArray() || node.tree->size() == 0 || node.tree->size() > kMaxPatterns) {
    return node.Wrong("must be a list of 1 to " + std::to_string(kMaxPatterns) + " patterns");
  }
  for (std::size_t i = 0; i < node.tree->size(); ++i) {
    KX_ASSIGN_OR_RETURN(std::string pattern, TextOfNode(node.At(i)));
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

Result<ReceiverType> ReceiverTypeOf(const Node& node) {
  KX_ASSIGN_OR_RETURN(const std::string name, TextOfNode(node));
  const auto found = std::ranges::find(kReceiverTypes, name, ReceiverTypeName);
  if (found == kReceiverTypes.end()) {
    return node.Wrong("\"" + name + "\" is none of " + Names(kReceiverTypes, ReceiverTypeName));
  }
  return *found;
}

Result<std::set<Severity>> SeveritiesOf(const Node& node, ReceiverType type) {
  if (!node.exists()) {
    // One annotation for each rollout is what Grafana is for.
    return type == ReceiverType::kGrafana
               ? std::set<Severity>{Severity::kInfo}
               : std::set<Severity>(kSeverities.begin(), kSeverities.end());
  }
  std::set<Severity> severities;
  if (!node.tree->IsArray() || node.tree->size() == 0) {
    return node.Wrong("must be a list of some of " + Names(kSeverities, SeverityName));
  }
  for (std::size_t i = 0; i < node.tree->size(); ++i) {
    KX_ASSIGN_OR_RETURN(const std::string name, TextOfNode(node.At(i)));
    const auto found = std::ranges::find(kSeverities, name, SeverityName);
    if (found == kSeverities.end()) {
      return node.At(i).Wrong("\"" + name + "\" is none of " + Names(kSeverities, SeverityName));
    }
    severities.insert(*found);
  }
  return severities;
}

Result<std::vector<std::pair<std::string, std::string>>> HeadersOf(const Node& node) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (!node.exists()) {
    return headers;
  }
  if (!node.tree->IsObject()) {
    return node.Wrong("must be an object of names and values");
  }
  for (const JsonTree::Member& member : node.tree->members()) {
    const Node value = node.At(member.key);
    const std::string name = base::ToLower(member.key);
    if (name == "content-type" || name == "content-length" || name == "host" ||
        name == "transfer-encoding" || name == "connection") {
      return value.Wrong("is set by the operator");
    }
    KX_ASSIGN_OR_RETURN(std::string text, TextOfNode(value));
    if (text.empty()) {
      return value.Wrong("must not be empty");
    }
    headers.emplace_back(member.key, std::move(text));
  }
  return headers;
}

Result<StormLimits> StormLimitsOf(const Node& node, ReceiverType type) {
  StormLimits limits;
  if (type != ReceiverType::kCloudEvents && type != ReceiverType::kGrafana) {
    limits.after = kChatAfter;
  }
  if (!node.exists()) {
    return limits;
  }
  KX_RETURN_IF_ERROR(CheckMembers(node, {"after", "every"}));
  if (const Node after = node.At("after"); after.exists()) {
    const auto number = after.tree->AsInt();
    if (!number || *number < 0 || *number > kMaxAfter) {
      return after.Wrong("must be a number between 0 and " + std::to_string(kMaxAfter));
    }
    limits.after = static_cast<std::size_t>(*number);
  } else {
    limits.after = limits.after.value_or(kChatAfter);
  }
  if (const Node every = node.At("every"); every.exists()) {
    KX_ASSIGN_OR_RETURN(const std::string text, TextOfNode(every));
    const auto duration = reloadpolicy::ParseDuration(text, kShortestInterval, kLongestInterval);
    if (!duration) {
      return every.Wrong(duration.error().message);
    }
    limits.every = *duration;
  }
  return limits;
}

Result<std::string> UrlOf(const Node& node) {
  KX_ASSIGN_OR_RETURN(std::string url, TextOfNode(node));
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return node.Wrong("must begin with http:// or https://");  // and is never shown
  }
  return url;
}

Result<std::string> ReceiverNameOf(const Node& node) {
  KX_ASSIGN_OR_RETURN(std::string name, TextOfNode(node));
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

Result<ReceiverSettings> ReceiverOf(const Node& node) {
  KX_RETURN_IF_ERROR(
      CheckMembers(node, {"name", "type", "url", "headers", "proxy", "caFile", "severities",
                          "namespaces", "policies", "digest", "batches"}));
  ReceiverSettings receiver;
  KX_ASSIGN_OR_RETURN(receiver.name, ReceiverNameOf(node.At("name")));
  KX_ASSIGN_OR_RETURN(receiver.type, ReceiverTypeOf(node.At("type")));
  KX_ASSIGN_OR_RETURN(receiver.url, UrlOf(node.At("url")));
  KX_ASSIGN_OR_RETURN(receiver.headers, HeadersOf(node.At("headers")));
  KX_ASSIGN_OR_RETURN(receiver.proxy, TextOfNode(node.At("proxy")));
  KX_ASSIGN_OR_RETURN(receiver.ca_file, TextOfNode(node.At("caFile")));
  KX_ASSIGN_OR_RETURN(receiver.severities, SeveritiesOf(node.At("severities"), receiver.type));
  KX_ASSIGN_OR_RETURN(receiver.namespaces, PatternsOf(node.At("namespaces")));
  KX_ASSIGN_OR_RETURN(receiver.policies, PatternsOf(node.At("policies")));
  KX_ASSIGN_OR_RETURN(receiver.digest, StormLimitsOf(node.At("digest"), receiver.type));
  if (const Node batches = node.At("batches"); batches.exists()) {
    if (receiver.type != ReceiverType::kCloudEvents) {
      return batches.Wrong("only a receiver of the type CloudEvents has batches");
    }
    const auto value = batches.tree->AsBool();
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
  std::vector<std::string> duplicates;
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> documents,
                      codec::YamlToJson(yaml, &duplicates));
  if (!duplicates.empty()) {
    return Fail(Reason::kInvalidConfig, duplicates.front());
  }
  if (documents.size() != 1) {
    return Fail(Reason::kInvalidConfig, "must be one YAML document");
  }
  KX_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(documents.front()));
  const Node root{&tree, ""};
  KX_RETURN_IF_ERROR(CheckMembers(root, {"cluster", "receivers"}));
  NotificationSettings settings;
  KX_ASSIGN_OR_RETURN(settings.cluster, TextOfNode(root.At("cluster")));
  if (settings.cluster.size() > kMaxClusterName) {
    return root.At("cluster").Wrong("must have at most " + std::to_string(kMaxClusterName) +
                                    " bytes");
  }
  const Node receivers = root.At("receivers");
  if (!receivers.exists() || !receivers.tree->IsArray() || receivers.tree->size() == 0 ||
      receivers.tree->size() > kMaxReceivers) {
    return receivers.Wrong("must be a list of 1 to " + std::to_string(kMaxReceivers) +
                           " receivers");
  }
  for (std::size_t i = 0; i < receivers.tree->size(); ++i) {
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
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxSettingsBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    return Fail(Reason::kInvalidConfig, path + " cannot be read");
  }
  if (text.size() > kMaxSettingsBytes) {
    return Fail(Reason::kInvalidConfig, path + " is larger than 1 MiB");
  }
  auto settings = ParseNotificationSettings(text);
  if (!settings) {
    return Fail(Reason::kInvalidConfig, path + ": " + settings.error().message);
  }
  return settings;
}

}  // namespace kubexx::reloader
