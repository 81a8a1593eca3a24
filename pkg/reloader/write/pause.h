/// @file
/// The annotation pause-period: Deployments that stay paused for some time after a reload.
#ifndef KUBEXX_RELOADER_WRITE_PAUSE_H_
#define KUBEXX_RELOADER_WRITE_PAUSE_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/workload_write.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/workqueue/queue.h"
#include "kubexx/workqueue/task_workers.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The period that these annotations of a Deployment ask for; std::nullopt without the annotation.
/// Fails with kInvalidConfig when its value is not a duration in Go's syntax.
apimachinery::Result<std::optional<base::Duration>> PausePeriodOf(const Annotations& annotations,
                                                                  const AnnotationKeys& keys);

/// When a pause that the operator began ends; std::nullopt when the annotations record no pause. If
/// its begin or period cannot be read or the period was removed, or the begin is further in the
/// future at `now` than clocks differ, the pause is over already, because nothing says how long it
/// should last.
std::optional<base::WallTime> PauseEndOf(const Annotations& annotations, const AnnotationKeys& keys,
                                         base::WallTime now);

/// Whether somebody other than the operator has set spec.paused, alone or in addition, according to
/// the managed fields. Returns false when they name nobody: then only the annotation can tell.
bool IsPausedByOthers(const api::meta::v1::ObjectMeta& metadata);

/// The part of a Deployment in the API server that matters for pauses.
struct PauseState {
  bool paused = false;     ///< spec.paused
  bool by_others = false;  ///< see IsPausedByOthers
  Annotations annotations{};
  std::string resource_version{};
};

/// Reads a Deployment from the API server. Blocks. IsObjectNotFound is true of its error when the
/// Deployment does not exist.
using PauseQuery =
    std::function<apimachinery::Result<PauseState>(const WorkloadId&, const std::stop_token&)>;
/// Creates a PauseQuery that uses `client`.
PauseQuery NewPauseQuery(std::shared_ptr<rest::RESTClient> client);

/// Pauses Deployments together with their reload and resumes them later. The whole state is on the
/// Deployment, so that another replica, or the process after a restart, continues. Ends only pauses
/// that the operator began and nobody has changed. A pause by somebody else stays. When somebody
/// has resumed the Deployment or paused it anew, the operator removes what it recorded of its own
/// pause. Thread-safe.
class Pauses {
 public:
  struct Parts {
    const AnnotationKeys& keys;
    /// Returns the workload as the caches have it.
    std::function<std::optional<Workload>(const WorkloadId&)> get;
    /// Called only for Deployments that ask for a pause, or whose pause is over.
    PauseQuery query;
    WorkloadWriter& writer;
    HeldShards* held_shards;  ///< may be null
    base::Clock& clock;
    metrics::Registry* registry;
    /// Its threads look at the Deployments; null: the object makes one.
    std::shared_ptr<base::Executor> executor{};
  };

  /// Begins to work. Keeps references to its arguments. Throws std::system_error when the system
  /// has not enough threads.
  explicit Pauses(Parts parts);
  /// Stops.
  ~Pauses();
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  /// Adds the pause that `workload` asks for to the write that reloads it. Does nothing if the
  /// workload is already paused, and warns if it is not a Deployment. Fails with kInvalidConfig for
  /// a period that cannot be read; a retry does not help.
  apimachinery::Result<void> AddTo(const Workload& workload, WorkloadWrite& write,
                                   const std::stop_token& stop);
  /// Schedules a check whether the Deployment must be resumed, when that is, and whether its pause
  /// has ended in another way. Does not block.
  void Consider(const apimachinery::ObjectKey& key);
  void Stop();

 private:
  void Handle(const workqueue::Key& key, const std::stop_token& stop);
  /// Returns how long to wait until the next look at the Deployment; std::nullopt when none is
  /// needed.
  apimachinery::Result<std::optional<base::Duration>> Look(const WorkloadId& id,
                                                           const std::stop_token& stop);
  apimachinery::Result<std::optional<base::Duration>> End(const WorkloadId& id,
                                                          const std::stop_token& stop);

  const Parts parts_;
  std::stop_source stop_;
  workqueue::Queue queue_;
  workqueue::TaskWorkers worker_;  // last: it uses the rest
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_PAUSE_H_
