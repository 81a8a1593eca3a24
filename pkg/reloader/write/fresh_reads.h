/// @file
/// Reads a workload from the API server before a write that would do harm if it were made twice.
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

/// Reads a workload from the API server in the form that Caches returns; std::nullopt when it does
/// not exist. May block.
using WorkloadRead = std::function<apimachinery::Result<std::optional<Workload>>(
    const WorkloadId&, const std::stop_token&)>;

/// Creates a function that reads workloads with `keys` as annotation keys.
WorkloadRead NewWorkloadRead(std::shared_ptr<rest::RESTClient> client, AnnotationKeys keys);

/// Knows which workloads have been read since this replica began to write to them. If a cache is
/// older than the writes of another replica or an earlier process, it shows changes that have been
/// handled already. For most workloads a second write is the same as the first and does nothing.
/// For workloads that are rolled by creating an object or by setting a time, it is another rollout.
/// Thread-safe.
class FreshReads {
 public:
  explicit FreshReads(WorkloadRead read) : read_(std::move(read)) {}

  /// Whether to read the workload before the write. A tenure is a period in which this replica may
  /// write without interruption; each tenure has another number.
  bool AreWanted(const Workload& workload, ReloadStrategy strategy, std::uint64_t tenure) const;
  bool CanRead() const { return read_ != nullptr; }
  /// Reads the workload and stores that it has been read in this tenure.
  apimachinery::Result<std::optional<Workload>> Read(const WorkloadId& id, std::uint64_t tenure,
                                                     const std::stop_token& stop);
  /// Whether `cached` is at least as new as the API server's state at a moment of this tenure, so
  /// that it shows all that others have written before. Reads the workload once in a tenure. False
  /// where it cannot be read now; true where it does not exist any more, may not be read, or
  /// nothing can be read at all. May block.
  bool IsCurrent(const Workload& cached, std::uint64_t tenure, const std::stop_token& stop);
  /// The workload was deleted.
  void Forget(const WorkloadId& id);

 private:
  const WorkloadRead read_;
  mutable base::Mutex mu_;
  struct LastRead {
    std::uint64_t tenure = 0;
    std::uint64_t version = 0;  ///< the resource version that the workload had then
  };
  std::optional<LastRead> LastReadIn(const WorkloadId& id, std::uint64_t tenure) const;
  std::map<WorkloadId, LastRead> reads_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_FRESH_READS_H_
