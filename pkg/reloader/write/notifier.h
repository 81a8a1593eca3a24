/// @file
/// What others are told of the operator's writes.
#ifndef KUBEXX_RELOADER_WRITE_NOTIFIER_H_
#define KUBEXX_RELOADER_WRITE_NOTIFIER_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// One write of a workload that the API server has answered, or that could not be sent.
struct WriteReport {
  WorkloadId workload{};
  /// Of the workload, as the caches had it when the write was planned.
  std::string uid{};
  /// The sources whose change made the write necessary; never empty.
  std::vector<SourceId> causes{};
  /// The workload is paused: the write changes its pod template, and pods follow when it is
  /// resumed.
  bool paused = false;
  /// The server's answer.
  apimachinery::Result<void> outcome{};
  /// The Job that was made of a CronJob.
  std::string job{};
};

/// Something about a workload that its users should know, and can do something about.
struct WorkloadNotice {
  WorkloadId workload{};
  std::string uid{};
  std::string reason{};  ///< in UpperCamelCase, for Events
  std::string message{};
};

/// Is told of writes: Kubernetes Events, alerts, tests.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Called on the worker that made the write, after it has been counted and logged, for every
  /// attempt but those that were cancelled or found the workload gone. Several workers call at the
  /// same time. Must not block or throw: what takes time goes to a queue of the observer's own.
  virtual void OnWrite(const WriteReport& report) = 0;
  /// As OnWrite, of what is not about one write.
  virtual void OnNotice(const WorkloadNotice& notice) { (void)notice; }
};

/// Something about rollouts that a person should look at.
struct RolloutTrouble {
  /// A rollout has failed, or nothing more begins; otherwise rollouts wait.
  bool is_bad = false;
  std::string message{};  ///< with asterisks around names
};

/// Is told of such trouble: alerts, tests.
class TroubleObserver {
 public:
  virtual ~TroubleObserver() = default;
  /// Must not block or throw. Thread-safe.
  virtual void OnTrouble(const RolloutTrouble& trouble) = 0;
};

/// Observers in the order in which they are told; not owned.
using WriteObservers = std::vector<WriteObserver*>;

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_NOTIFIER_H_
