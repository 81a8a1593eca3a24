/// @file
/// A look at the API server itself before a write that would do harm if it came twice.
#ifndef KUBEXX_RELOADER_WRITE_FRESH_READS_H_
#define KUBEXX_RELOADER_WRITE_FRESH_READS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Asks the API server for a workload, as Caches has it; nothing when there is none. May block.
using WorkloadRead = std::function<apimachinery::Result<std::optional<Workload>>(
    const WorkloadId&, const std::stop_token&)>;

/// Reads by the names of `keys`.
WorkloadRead NewWorkloadRead(std::shared_ptr<rest::RESTClient> client, AnnotationKeys keys);

/// Knows which workloads have been read since this replica began to write for them. A cache that is
/// behind what another replica, or an earlier process, has written shows a change that has been
/// acted on. For most workloads the write is then the same again and does nothing; for those that
/// are rolled by creating an object, or by a time, it is another rollout. Thread-safe.
class FreshReads {
 public:
  explicit FreshReads(WorkloadRead read) : read_(std::move(read)) {}

  /// Whether to read before the write. A tenure is the time in which this replica may write without
  /// a break; each has another number.
  bool AreWanted(const Workload& workload, ReloadStrategy strategy, std::uint64_t tenure) const;
  bool CanRead() const { return read_ != nullptr; }
  /// Reads, and notes it.
  apimachinery::Result<std::optional<Workload>> Read(const WorkloadId& id, std::uint64_t tenure,
                                                     const std::stop_token& stop);
  /// The workload is gone.
  void Forget(const WorkloadId& id);

 private:
  const WorkloadRead read_;
  mutable base::Mutex mu_;
  /// Of those that were read: in which tenure.
  std::map<WorkloadId, std::uint64_t> read_in_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_FRESH_READS_H_
