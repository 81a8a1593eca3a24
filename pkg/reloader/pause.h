/// @file
/// pause-period: Deployments that stay paused for a while after a reload.
#ifndef KUBEXX_RELOADER_PAUSE_H_
#define KUBEXX_RELOADER_PAUSE_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/annotations.h"
#include "kubexx/reloader/shard_gate.h"
#include "kubexx/reloader/workload.h"
#include "kubexx/reloader/workload_write.h"
#include "kubexx/reloader/writer.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The period that a Deployment asks for; nothing without the annotation. kInvalidConfig when its
/// value is no duration as Go writes them.
apimachinery::Result<std::optional<base::Duration>> PausePeriodOf(const Workload& workload,
                                                                  const AnnotationKeys& keys);

/// When a pause that the operator began ends; nothing when the workload carries none. A pause whose
/// begin or period cannot be read any more, or whose period has been taken away, is over: nothing
/// says how long it was to last.
std::optional<base::WallTime> PauseEndOf(const Workload& workload, const AnnotationKeys& keys);

/// Whether a Deployment is paused now; blocks.
using PauseQuery =
    std::function<apimachinery::Result<bool>(const WorkloadId&, const std::stop_token&)>;
/// Asks the API server.
PauseQuery NewPauseQuery(std::shared_ptr<rest::RESTClient> client);

/// Pauses Deployments with their reload and resumes them later. All state is on the Deployment, so
/// that a restart, or another replica, goes on where the last one stopped. A Deployment that was
/// paused by someone else stays paused. Thread-safe.
class Pauses {
 public:
  struct Parts {
    const AnnotationKeys& keys;
    /// The workload as the caches have it.
    std::function<std::optional<Workload>(const WorkloadId&)> get;
    /// Whether the API server has the Deployment as paused now; asked only for those that ask for a
    /// pause, or are to be resumed.
    PauseQuery is_paused;
    WorkloadWriter& writer;
    ShardGate* gate;  ///< may be null
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
  /// Looks whether the Deployment has to be resumed, and when. Does not block.
  void Consider(const apimachinery::ObjectKey& key);
  void Stop();

 private:
  void Work(const std::stop_token& stop);
  /// How long to wait before it is looked at again; nothing when it is done.
  apimachinery::Result<std::optional<base::Duration>> Resume(const WorkloadId& id,
                                                             const std::stop_token& stop);

  const Parts parts_;
  workqueue::Queue queue_;
  std::jthread thread_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PAUSE_H_
