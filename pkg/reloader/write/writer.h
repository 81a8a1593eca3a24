/// @file
/// How the operator writes to workloads.
#ifndef KUBEXX_RELOADER_WRITE_WRITER_H_
#define KUBEXX_RELOADER_WRITE_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

class Fallbacks;

/// WriteOutcome::left_alone of a CronJob that is suspended.
inline constexpr char kSuspendedText[] = "it is suspended; its next Job takes the new data";

/// What became of a write that succeeded.
struct WriteOutcome {
  /// New pods come. False when nothing of the write makes any, and for a Job that has finished
  /// meanwhile.
  bool rolled = true;
  /// The annotations of the write are on the workload. False when they were refused, or the kind is
  /// rolled without touching the object.
  bool recorded = true;
  /// Why they were refused; nothing when it is known from before that the right is missing.
  std::optional<apimachinery::Status> refusal{};
  /// False of a dry run: nothing was written, only looked at.
  bool made = true;
  /// The resource version of the workload's own object after the write; 0: not known.
  std::uint64_t version = 0;
  /// The Job that was made of a CronJob.
  std::string job{};
  /// In a clause, why the workload is not to be rolled, though there was nothing against writing to
  /// it; empty when it was rolled, and where nobody needs to be told.
  std::string left_alone{};
  bool operator==(const WriteOutcome&) const = default;
};

/// Writes to workloads, with kFieldManager as field manager. Implementations are thread-safe, as
/// long as no two threads write to the same workload.
class WorkloadWriter {
 public:
  virtual ~WorkloadWriter() = default;

  /// Makes `write`, by what the workload's kind asks for; returns once the server has answered. A
  /// write that failed half-way is finished, not repeated, by the same call later. kNotFound when
  /// the workload is gone, kConflict when it is no longer the one that the write was made for.
  virtual apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload,
                                                   const WorkloadWrite& write,
                                                   std::stop_token stop) = 0;

  /// Finishes what a failed Write left behind of a workload that is not there any more; does
  /// nothing when there is no such thing. For kinds that are rolled by deleting and creating.
  virtual apimachinery::Result<void> Finish(const WorkloadId& workload, std::stop_token stop) {
    (void)workload;
    (void)stop;
    return {};
  }

  /// Finishes what a process that is gone has left behind, by its keeper (see IsKeeper), and takes
  /// the keeper away; false when that must wait.
  virtual apimachinery::Result<bool> Recover(const WorkloadId& keeper, std::stop_token stop) {
    (void)keeper;
    (void)stop;
    return true;
  }
};

/// The writer of all kinds, through `client`; `fallbacks` is told of what is refused, and made when
/// null.
std::unique_ptr<WorkloadWriter> NewWriter(std::shared_ptr<rest::RESTClient> client,
                                          std::shared_ptr<Fallbacks> fallbacks = nullptr,
                                          base::Clock& clock = base::Clock::Real());

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_WRITER_H_
