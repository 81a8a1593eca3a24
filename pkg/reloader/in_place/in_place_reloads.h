/// @file
/// Reloads the pods of workloads, beside the operator's workers.
#ifndef KUBEXX_RELOADER_IN_PLACE_IN_PLACE_RELOADS_H_
#define KUBEXX_RELOADER_IN_PLACE_IN_PLACE_RELOADS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/in_place/mount_check.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/reloader/in_place/pod_reload.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

/// The data of sources that a reload is for, by their digests.
using ReloadedData = std::map<SourceId, Digest>;

/// Reloads all pods of workloads in place. Each pod is looked at on its own, for the time of a few
/// requests, so that one which hangs takes a thread for these requests now and then, and holds up
/// nobody else. A reload is done when every pod has been reloaded, also those that have begun since
/// its start. Namespaces take turns, and none has all threads. What it knows is lost with the
/// process, and may be: a reload can be started again from its beginning. Thread-safe.
class InPlaceReloads {
 public:
  struct Options {
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    /// How many pods are looked at, or acted in, at the same time; three quarters of these, at
    /// least one, in the same namespace.
    int threads = 8;
    ReloadTimes times{};
    /// Between two tries to list pods or to read sources.
    base::Duration list_again = std::chrono::seconds(1);
    /// Pods are listed so often while some of those that are known are still being reloaded, and
    /// once more when none is. A list has all pods of a workload, which may be thousands.
    base::Duration list_every = std::chrono::seconds(10);
    /// Called when a reload has ended, well or not, on a thread of this object and outside of
    /// locks. Must not block.
    std::function<void(const WorkloadId&)> on_end{};
  };
  /// What is to be done.
  struct Job {
    WorkloadId workload{};
    std::string uid{};
    ReloadAction action{};
    ReloadedData data{};
  };
  enum class State : std::uint8_t { kNone, kRunning, kDone, kFailed };
  /// How far the reload of a workload is.
  struct Report {
    State state = State::kNone;
    ReloadAction action{};
    ReloadedData data{};
    std::size_t pods = 0;       ///< that have been reloaded
    std::string why{};          ///< with kFailed: a clause that says why, and of which pod
    bool is_refused = false;    ///< with kFailed: the program in that pod does not take the data
    base::WallTime started{};   ///< by the clock's time of day
    base::Duration duration{};  ///< with kDone and kFailed
  };

  /// `access` must outlive this object. Starts its threads.
  InPlaceReloads(Options options, PodAccess& access);
  /// Calls Stop.
  ~InPlaceReloads();
  InPlaceReloads(const InPlaceReloads&) = delete;
  InPlaceReloads& operator=(const InPlaceReloads&) = delete;

  /// Starts a reload, in place of one of the same workload that has been started before.
  void Start(Job job);
  Report Look(const WorkloadId& workload) const;
  /// Returns whether the last call for this reload of the workload, if there was one, was about
  /// something else.
  bool IsNews(const WorkloadId& workload, const std::string& message);
  /// Ends the reload of the workload, if there is one, and forgets it, but not what was refused.
  void Forget(const WorkloadId& workload);
  /// The data that the workload's program has refused, in one reload or several, since the last
  /// call of ForgetRefused; of each source the last ones.
  ReloadedData Refused(const WorkloadId& workload) const;
  /// The program has taken its files, or no pod is to be kept from them any more.
  void ForgetRefused(const WorkloadId& workload);
  /// Forget and ForgetRefused for all workloads of the namespaces for which `left` returns true.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left);
  /// Ends and forgets all reloads, and joins the threads. May be called again.
  void Stop();

 private:
  struct Reload;
  using ReloadPtr = std::shared_ptr<Reload>;

  void Work(const std::stop_token& stop);
  void ListPods(const WorkloadId& workload, const std::stop_token& stop);
  void StepPod(const apimachinery::ObjectKey& pod, const std::stop_token& stop);
  /// The pods that are new, and what is left beside them.
  struct Listed {
    std::vector<PodReload::Input> pods{};
    bool has_more = false;  ///< pods that are known are not done yet, or there are misfits
    /// Pods that cannot be reloaded. There are others of another template, so a release may be
    /// replacing them.
    std::size_t misfits = 0;
  };
  apimachinery::Result<Listed> ListNew(Reload& reload, const std::stop_token& stop);
  /// How to reload one pod; std::nullopt: it has none of the sources. What it needs of sources is
  /// read.
  apimachinery::Result<std::optional<PodReload::Input>> InputFor(Reload& reload,
                                                                 const api::core::v1::Pod& pod,
                                                                 const std::stop_token& stop);
  /// Whether so many misfits may still be replaced.
  bool AwaitsRelease(Reload& reload, std::size_t misfits) const;
  /// The pod is done, or gone: has what follows from that looked at.
  void OnPodOver(const ReloadPtr& reload, const PodReload& pod, bool is_done);
  void TryAgain(const ReloadPtr& reload, const apimachinery::Status& why);
  void End(const ReloadPtr& reload, State state, const std::string& why, bool is_refused = false);
  /// Whether the reload is still wanted.
  bool IsCurrent(const ReloadPtr& reload) const KX_REQUIRES(mu_);
  void Remove(const WorkloadId& workload) KX_REQUIRES(mu_);

  const Options options_;
  PodAccess& access_;
  metrics::Counter done_;
  metrics::Counter failed_;
  metrics::Counter pods_;
  metrics::Gauge running_;
  mutable base::Mutex mu_;
  std::map<WorkloadId, ReloadPtr> reloads_ KX_GUARDED_BY(mu_);
  std::map<WorkloadId, ReloadedData> refused_ KX_GUARDED_BY(mu_);
  /// Whose pods are in the queue.
  std::map<apimachinery::ObjectKey, WorkloadId> owners_ KX_GUARDED_BY(mu_);
  workqueue::Queue queue_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_IN_PLACE_RELOADS_H_
