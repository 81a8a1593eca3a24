/// @file
/// The interfaces of those who are informed of the operator's writes.
#ifndef KUBEXX_RELOADER_WRITE_NOTIFIER_H_
#define KUBEXX_RELOADER_WRITE_NOTIFIER_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// A write to a workload that the API server has answered, or that could not be sent.
struct WriteReport {
  WorkloadId workload{};
  /// The workload's UID when the write was planned, according to the caches.
  std::string uid{};
  /// The sources whose change made the write necessary; never empty.
  std::vector<SourceId> causes{};
  /// The workload is paused: the write changes its pod template, but new pods start only when it is
  /// resumed.
  bool paused = false;
  /// The server's answer.
  apimachinery::Result<void> outcome{};
  /// The name of the Job that was created from a CronJob.
  std::string job{};
  /// The action by which the pods that run were given the new data; empty: new pods are.
  std::string in_place{};
};

/// Something about a workload that its users should know and can act upon.
struct WorkloadNotice {
  WorkloadId workload{};
  std::string uid{};
  std::string reason{};  ///< in UpperCamelCase, for Events
  std::string message{};
};

/// Informed of writes. Implementations send Kubernetes Events or alerts, or are part of tests.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Called on the worker that made the write, after the write was counted and logged. Called for
  /// every attempt, except when the write was cancelled or the workload no longer existed. Several
  /// workers call it at the same time. Must not block or throw: slow work belongs in a queue of the
  /// observer's own.
  virtual void OnWrite(const WriteReport& report) = 0;
  /// Called like OnWrite, for notices that are not about a single write.
  virtual void OnNotice(const WorkloadNotice& notice) { (void)notice; }
};

/// A problem with rollouts that a person should look at.
struct RolloutTrouble {
  /// True: a rollout has failed, or no more rollouts begin. False: rollouts wait.
  bool is_bad = false;
  std::string reason{};   ///< in UpperCamelCase, such as "RolloutFailed"
  std::string message{};  ///< with asterisks around names
  /// The same without these asterisks. It may have others, such as those of a cron schedule.
  std::string plain{};
  /// The workload that it is about, or one of several; std::nullopt when it is about none.
  std::optional<WorkloadId> workload{};
  /// The policy because of which rollouts have stopped or wait; std::nullopt when it is about one
  /// workload only.
  std::optional<reloadpolicy::PolicyId> policy{};
  /// With "RolloutFailed": a reload of the running pods has failed, and no rollout.
  bool is_in_place = false;
};

/// Informed of problems with rollouts. Implementations send alerts, or are part of tests.
class TroubleObserver {
 public:
  virtual ~TroubleObserver() = default;
  /// Must not block or throw. Thread-safe.
  virtual void OnTrouble(const RolloutTrouble& trouble) = 0;
};

/// Observers in the order in which they are called. Not owned.
using WriteObservers = std::vector<WriteObserver*>;
using TroubleObservers = std::vector<TroubleObserver*>;

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_NOTIFIER_H_
