/// @file
/// What others are told of the operator's writes.
#ifndef KUBEXX_RELOADER_NOTIFIER_H_
#define KUBEXX_RELOADER_NOTIFIER_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/source.h"
#include "kubexx/reloader/workload.h"

namespace kubexx::reloader {

/// One write of a workload that the API server has answered, or that could not be sent.
struct WriteReport {
  WorkloadId workload{};
  /// Of the workload, as the caches had it when the write was planned.
  std::string uid{};
  /// The sources whose change made the write necessary; never empty.
  std::vector<SourceId> causes{};
  /// The server's answer.
  apimachinery::Result<void> outcome{};
};

/// Is told of writes: Kubernetes Events, alerts, tests.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  /// Called on the worker that made the write, after it has been counted and logged, for every
  /// attempt but those that were cancelled or found the workload gone. Several workers call at the
  /// same time. Must not block or throw: what takes time goes to a queue of the observer's own.
  virtual void OnWrite(const WriteReport& report) = 0;
};

/// Observers in the order in which they are told; not owned.
using WriteObservers = std::vector<WriteObserver*>;

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFIER_H_
