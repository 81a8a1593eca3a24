/// @file
/// The interface through which the operator writes to workloads.
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

/// The value of WriteOutcome::left_alone for a suspended CronJob.
inline constexpr char kSuspendedText[] = "it is suspended; its next Job takes the new data";

/// The result of a write that succeeded.
struct WriteOutcome {
  /// The write starts new pods. False when nothing in the write does so, and for a Job that has
  /// finished in the meantime.
  bool rolled = true;
  /// The annotations of the write are on the workload. False when they were refused, or when the
  /// kind is rolled without a write to the object itself.
  bool recorded = true;
  /// Why the annotations were refused; std::nullopt when the missing right was known before.
  std::optional<apimachinery::Status> refusal{};
  /// False for a dry run: nothing was written.
  bool made = true;
  /// The resource version of the workload's own object after the write; 0: not known.
  std::uint64_t version = 0;
  /// The same of the Deployment whose template was written, where that makes the workload's pods,
  /// and of the Job that was created from a CronJob.
  std::uint64_t template_version = 0;
  /// The name of the Job that was created from a CronJob.
  std::string job{};
  /// A clause that says why the workload must not be rolled although it could be written. Empty
  /// when the workload was rolled, or when nobody needs to be told.
  std::string left_alone{};
  bool operator==(const WriteOutcome&) const = default;
};

/// Writes to workloads, with the field manager kFieldManager, or kRecordsManager where a write has
/// nothing but annotations. Implementations are thread-safe as
/// long as no two threads write to the same workload.
class WorkloadWriter {
 public:
  virtual ~WorkloadWriter() = default;

  /// Carries out `write` in the way that the workload's kind requires. Returns after the server has
  /// answered. If a write failed half-way, the same call later finishes it and does not repeat it.
  /// If the workload does not exist, IsObjectNotFound is true of the error. Fails with kConflict
  /// when the workload is no longer the object, or has no longer the version, that the write was
  /// made for.
  virtual apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload,
                                                   const WorkloadWrite& write,
                                                   std::stop_token stop) = 0;

  /// Finishes a failed Write to a workload that no longer exists; does nothing if there is no such
  /// Write. For kinds that are rolled by deleting and creating the object.
  virtual apimachinery::Result<void> Finish(const WorkloadId& workload, std::stop_token stop) {
    (void)workload;
    (void)stop;
    return {};
  }

  /// Finishes the work of an earlier process, using the keeper that it left (see IsKeeper), and
  /// deletes the keeper. Returns false when that must wait.
  virtual apimachinery::Result<bool> Recover(const WorkloadId& keeper, std::stop_token stop) {
    (void)keeper;
    (void)stop;
    return true;
  }
};

/// Creates a writer for all kinds that uses `client`. `fallbacks` is informed of refusals; null: a
/// new one is created.
std::unique_ptr<WorkloadWriter> NewWriter(std::shared_ptr<rest::RESTClient> client,
                                          std::shared_ptr<Fallbacks> fallbacks = nullptr,
                                          base::Clock& clock = base::Clock::Real());

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_WRITER_H_
