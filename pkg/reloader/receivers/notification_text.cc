#include "kubexx/reloader/receivers/notification_text.h"

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/text/join.h"
#include "kubexx/base/utf8.h"
#include "kubexx/reloader/observe/one_line.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {
namespace {

constexpr std::string_view kIsCut = " … (cut)";

std::string InWords(const reloadpolicy::ObjectRef& ref) {
  return ref.kind + " " + ref.key.ToString();
}

std::string PolicyInWords(const reloadpolicy::PolicyId& policy) {
  return (policy.namespace_.empty() ? "ClusterReloadPolicy " : "ReloadPolicy ") + policy.ToString();
}

std::string TitleOf(const Notification& notification) {
  const std::string workload = notification.workload ? InWords(*notification.workload) : "";
  const std::string policy =
      notification.is_of_policy ? PolicyInWords(notification.policies.front()) : "";
  if (notification.reason == kReloadedReason) {
    if (!notification.action.empty()) {
      return workload + " was reloaded in place";
    }
    return notification.job.empty() ? workload + " was rolled"
                                    : "A Job of " + workload + " was created";
  }
  if (notification.reason == kReloadFailReason) {
    return workload + " cannot be rolled";
  }
  if (notification.reason == kRolloutFailed) {
    return (notification.is_in_place ? "A reload in place of " : "A rollout of ") + workload +
           " has failed";
  }
  if (notification.is_of_policy) {
    return notification.severity == Severity::kError ? notification.workload
                                                           ? "A wave has failed under " + policy
                                                           : policy + " has stopped rollouts"
                                                     : "Rollouts wait because of " + policy;
  }
  return workload + " needs attention: " + notification.reason;
}

std::string BodyOf(const Notification& notification) {
  if (notification.reason == kReloadFailReason) {
    return "The operator tries again. The last error: " + notification.text;
  }
  if (notification.paused) {
    return "It is paused; its pods follow when it is resumed.";
  }
  return notification.text;
}

std::string NameList(const std::vector<std::string>& names, std::size_t more) {
  std::string joined = base::Join(names, ", ");
  return more == 0 ? joined : joined + ", and " + std::to_string(more) + " more";
}

std::string FooterOf(Severity severity, std::string_view cluster, base::WallTime time) {
  return std::string(SeverityName(severity)) + " · " +
         (cluster.empty() ? "" : ToOneLine(cluster) + " · ") +
         apimachinery::Time::From(time).ToString();
}

std::string Counted(std::size_t count, Severity severity) {
  const std::string_view one = severity == Severity::kError     ? "error"
                               : severity == Severity::kWarning ? "warning"
                                                                : "rollout";
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string GroupLine(const StormDigest::Key& key, const StormDigest::Group& group) {
  std::string line = std::string(SeverityName(key.severity)) + ": " + std::to_string(group.count) +
                     " " + key.reason;
  if (!key.namespace_.empty()) {
    line += " in " + key.namespace_;
  }
  if (!key.source.empty()) {
    line += " for " + key.source;
  }
  if (!group.names.empty()) {
    const std::size_t more = group.count - group.names.size();
    line += ": " + NameList(group.names, 0) + (more == 0 ? "" : ", …");
  }
  return ToOneLine(line);
}

}  // namespace

NotificationText TextOf(const Notification& notification, std::string_view cluster) {
  NotificationText text{.severity = notification.severity,
                        .title = ToOneLine(TitleOf(notification)),
                        .body = ToOneLine(BodyOf(notification)),
                        .footer = FooterOf(notification.severity, cluster, notification.time)};
  const auto add = [&text](const char* label, const std::string& value) {
    if (!value.empty()) {
      text.facts.emplace_back(label, ToOneLine(value));
    }
  };
  std::vector<std::string> sources;
  for (const reloadpolicy::ObjectRef& source : notification.sources) {
    sources.push_back(InWords(source));
  }
  std::vector<std::string> policies;
  for (const reloadpolicy::PolicyId& policy : notification.policies) {
    policies.push_back(PolicyInWords(policy));
  }
  add("Workload", notification.workload ? InWords(*notification.workload) : "");
  add("Changed", NameList(sources, notification.more_sources));
  add("Action", notification.action);
  add("Job", notification.job);
  add("Policies", NameList(policies, 0));
  return text;
}

NotificationText TextOf(const StormDigest& digest, std::string_view cluster) {
  NotificationText text{.severity = digest.severity(),
                        .body = "They came from " +
                                apimachinery::Time::From(digest.begin()).ToString() + " to " +
                                apimachinery::Time::From(digest.end()).ToString() + ".",
                        .footer = FooterOf(digest.severity(), cluster, digest.end())};
  std::vector<std::string> counts;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
    if (digest.Count(severity) > 0) {
      counts.push_back(Counted(digest.Count(severity), severity));
    }
  }
  text.title = "Gathered: " + NameList(counts, 0);
  for (const auto& [key, group] : digest.Groups()) {
    text.lines.push_back(GroupLine(key, group));
  }
  if (digest.others() > 0) {
    text.lines.push_back(MoreLine(digest.others()));
  }
  return text;
}

std::string ShortText(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return base::ToValidUtf8(text).size() <= max_bytes ? base::ToValidUtf8(text)
                                                       : base::CutUtf8(text, max_bytes);
  }
  return max_bytes <= 2 * kIsCut.size()
             ? base::CutUtf8(text, max_bytes)
             : base::CutUtf8(text, max_bytes - kIsCut.size()) + std::string(kIsCut);
}

std::string MoreLine(std::size_t count) { return "… and " + std::to_string(count) + " more"; }

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace kubexx::reloader
