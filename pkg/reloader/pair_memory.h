/// @file
/// What the process remembers of workloads and their sources.
#ifndef KUBEXX_RELOADER_PAIR_MEMORY_H_
#define KUBEXX_RELOADER_PAIR_MEMORY_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/planner.h"

namespace kubexx::reloader {

/// The Knowledge of all workloads. One thread at a time works on a workload (the queue sees to
/// that) while others report changes of its sources. Thread-safe. Holds an entry for each pair that
/// a rule asks for, once it has been planned or has changed.
class PairMemory {
 public:
  /// A source of `workload` changed from `before`. What is known already stays: it is older and
  /// still unacted on.
  void RecordChange(const WorkloadId& workload, const SourceId& source, const Digest& before);
  /// The workload was there before the process.
  void MarkNew(const WorkloadId& workload);
  Knowledge Get(const WorkloadId& workload) const;
  /// Takes over what a plan found, changes apart.
  void Apply(const WorkloadId& workload, const Plan& plan);
  /// A write is about to be sent: from now on nothing is certain until Confirm.
  void BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The write has arrived.
  void Confirm(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The workload is gone, or another has taken its place.
  void Forget(const WorkloadId& workload);
  /// Pairs with an entry.
  std::size_t size() const;

 private:
  mutable base::Mutex mu_;
  std::map<WorkloadId, Knowledge> states_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PAIR_MEMORY_H_
