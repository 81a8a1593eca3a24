/// @file
/// pause-period: Deployments that stay paused for a while after a reload.
#ifndef KUBEXX_RELOADER_WRITE_PAUSE_H_
#define KUBEXX_RELOADER_WRITE_PAUSE_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/workload_write.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The period that a Deployment with these annotations asks for; nothing without the annotation.
/// kInvalidConfig when its value is no duration as Go writes them.
apimachinery::Result<std::optional<base::Duration>> PausePeriodOf(const Annotations& annotations,
                                                                  const AnnotationKeys& keys);

/// When a pause that the operator began ends; nothing when the annotations tell of none. A pause
/// whose begin or period cannot be read any more, or whose period has been taken away, is over:
/// nothing says how long it was to last.
std::optional<base::WallTime> PauseEndOf(const Annotations& annotations,
                                         const AnnotationKeys& keys);

/// Whether the managed fields tell that somebody else than the operator has set spec.paused, alone
/// or as well. False when they tell of nobody: then the annotation is all there is to go by.
bool IsPausedByOthers(const api::meta::v1::ObjectMeta& metadata);

/// A Deployment as the API server has it, as far as pauses are concerned.
struct PauseState {
  bool paused = false;     ///< spec.paused
  bool by_others = false;  ///< see IsPausedByOthers
  Annotations annotations{};
  std::string resource_version{};
};

/// Reads a Deployment; blocks. IsObjectNotFound of the error when there is none.
using PauseQuery =
    std::function<apimachinery::Result<PauseState>(const WorkloadId&, const std::stop_token&)>;
/// Asks the API server.
PauseQuery NewPauseQuery(std::shared_ptr<rest::RESTClient> client);

/// Pauses Deployments with their reload and resumes them later. All state is on the Deployment, so
/// that a restart, or another replica, goes on where the last one stopped. Only a pause that the
/// operator made, and that is still its own, is ended: one of somebody else stays, and once
/// somebody has resumed the Deployment, or paused it, nothing of the operator's pause is left on
/// it. Thread-safe.
class Pauses {
 public:
  struct Parts {
    const AnnotationKeys& keys;
    /// The workload as the caches have it.
    std::function<std::optional<Workload>(const WorkloadId&)> get;
    /// Asked only for those that ask for a pause, or whose pause is over.
    PauseQuery query;
    WorkloadWriter& writer;
    HeldShards* held_shards;  ///< may be null
    base::Clock& clock;
    metrics::Registry* registry;
  };

  /// Starts a thread. Refers to what it is given.
  explicit Pauses(Parts parts);
  /// Stops.
  ~Pauses();
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  /// Adds the pause that `workload` asks for to the write that reloads it; does nothing for one
  /// that is paused already, and warns about other kinds. kInvalidConfig, final, for a period that
  /// cannot be read.
  apimachinery::Result<void> AddTo(const Workload& workload, WorkloadWrite& write,
                                   const std::stop_token& stop);
  /// Looks whether the Deployment has to be resumed, and when, and whether its pause is over by
  /// other means. Does not block.
  void Consider(const apimachinery::ObjectKey& key);
  void Stop();

 private:
  void Work(const std::stop_token& stop);
  /// How long to wait before it is looked at again; nothing when it is done.
  apimachinery::Result<std::optional<base::Duration>> Look(const WorkloadId& id,
                                                           const std::stop_token& stop);
  apimachinery::Result<std::optional<base::Duration>> End(const WorkloadId& id,
                                                          const std::stop_token& stop);

  const Parts parts_;
  workqueue::Queue queue_;
  std::jthread thread_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_PAUSE_H_
