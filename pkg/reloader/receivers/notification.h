/// @file
/// What receivers are told: one event, with all that is known of it.
#ifndef KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_H_
#define KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/notify/severity.h"
#include "kubexx/reloader/write/notifier.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// The reasons of notifications about writes, as in Kubernetes Events.
inline constexpr char kReloadedReason[] = "Reloaded";
inline constexpr char kReloadFailReason[] = "ReloadFail";

/// Something that has happened to a workload or because of a policy. It holds names and never
/// values. A value type.
struct Notification {
  /// How many sources it names, and how long `text` may be, in bytes.
  static constexpr std::size_t kMaxSources = 20;
  static constexpr std::size_t kMaxText = 2000;

  std::string id{};  ///< unique; the same for all receivers and all attempts to send it
  base::WallTime time{};
  Severity severity = Severity::kInfo;
  /// In UpperCamelCase: kReloadedReason, kReloadFailReason, the reason of a RolloutTrouble or a
  /// WorkloadNotice.
  std::string reason{};
  /// Of the workload or, without one, of the policy; empty for a ClusterReloadPolicy.
  std::string namespace_{};
  std::optional<reloadpolicy::ObjectRef> workload{};
  /// The sources whose change it is about, at most kMaxSources, and how many more there are.
  std::vector<reloadpolicy::ObjectRef> sources{};
  std::size_t more_sources = 0;
  /// The policy that it is about, if there is one, and those that govern the workload.
  std::vector<reloadpolicy::PolicyId> policies{};
  /// It is about the first of `policies` itself.
  bool is_of_policy = false;
  /// The action by which the pods that run were given the new data; empty: new pods are.
  std::string action{};
  std::string job{};  ///< the Job that was created from a CronJob
  /// With the reason "RolloutFailed": a reload of the running pods has failed, and no rollout.
  bool is_in_place = false;
  /// The workload is paused: new pods start when it is resumed.
  bool paused = false;
  std::string text{};  ///< a sentence that says more, such as an error; may be empty
};

/// What a write says. Without id, time and policies, as the other two.
Notification NotificationOf(const WriteReport& report);
Notification NotificationOf(const WorkloadNotice& notice);
Notification NotificationOf(const RolloutTrouble& trouble);

/// "ReloadPolicy/ns/name" or "ClusterReloadPolicy/name".
std::string PolicyRef(const reloadpolicy::PolicyId& policy);
/// What the notification is about: "Deployment/ns/name", or a PolicyRef.
std::string SubjectOf(const Notification& notification);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_H_
