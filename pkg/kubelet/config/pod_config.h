/// @file
/// PodConfig: merges the sources of a node's pods.
#ifndef KUBEXX_KUBELET_CONFIG_POD_CONFIG_H_
#define KUBEXX_KUBELET_CONFIG_POD_CONFIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// Keeps the pods of each source and tells consumers what changed. As the kubelet's PodConfig and
/// its podStorage (`pkg/kubelet/config`): a source and a UID identify a pod. A pod that its source
/// sends again keeps the time when it was first seen. When a source has two pods with the same name
/// or UID, the first one counts. Thread-safe. The sources call it on threads of their own; it calls
/// consumers from one of these threads at a time, in the order of the changes.
class PodConfig {
 public:
  /// Which updates consumers get for a change. As the kubelet's PodConfigNotificationMode.
  enum class Mode : std::uint8_t {
    kSnapshot,            ///< all pods of all sources, as a SET of kAllSources
    kSnapshotAndUpdates,  ///< a SET when pods come or go, otherwise UPDATE, DELETE, RECONCILE
    kIncremental,         ///< REMOVE, ADD, UPDATE, DELETE and RECONCILE of a source
  };
  using Consumer = std::function<void(const PodUpdate&)>;

  explicit PodConfig(Mode mode, base::Clock& clock = base::Clock::Real())
      : mode_(mode), clock_(clock) {}
  PodConfig(const PodConfig&) = delete;
  PodConfig& operator=(const PodConfig&) = delete;

  /// Registers a source and returns the sink for its pods. Ready waits for this source from now on.
  /// The sink returns when the consumers have got the pods. It refers to this object.
  PodSink Channel(std::string source);

  /// Passes every change from now on to `consumer`. When a source has been seen, it first gets all
  /// present pods (as a SET of kAllSources) on this thread. The consumer is called without locks;
  /// while it runs, sources with changes wait. The end of the subscription waits for a running
  /// call, so a consumer must not end its own subscription. The subscription must end before this
  /// object.
  base::Subscription Subscribe(Consumer consumer);

  /// Applies an update of any operation except kReconcile, which is derived from others. Blocks
  /// until the consumers have got the changes.
  void Merge(const PodUpdate& update);

  /// Whether every source has sent its pods at least once. Before that, a pod that no source has
  /// sent may belong to a source that is late. As the kubelet's SourcesReady.
  bool Ready() const;
  /// The registered sources that have not sent pods yet.
  std::vector<std::string> Missing() const;

  /// All pods of all sources, sorted by source, namespace and name.
  std::vector<PodRef> State() const;
  /// Passes the whole state to every consumer, as a SET of kAllSources. As PodConfig.Sync.
  void Sync();

 private:
  /// Pods by UID.
  using Pods = std::map<std::string, PodRef>;
  struct Changes {
    std::vector<PodRef> adds{};
    std::vector<PodRef> updates{};
    std::vector<PodRef> deletes{};
    std::vector<PodRef> removes{};
    std::vector<PodRef> reconciles{};
    bool first_set = false;
  };

  Changes ApplyLocked(const PodUpdate& update) KX_REQUIRES(mu_);
  void TakePodsLocked(const PodUpdate& update, const Pods& before, Pods& pods, Changes& changes)
      KX_REQUIRES(mu_);
  std::vector<PodUpdate> ToTellLocked(const std::string& source, const Changes& changes) const
      KX_REQUIRES(mu_);
  std::vector<PodRef> StateLocked() const KX_REQUIRES(mu_);
  PodUpdate SnapshotLocked() const KX_REQUIRES(mu_);
  void AwaitTurn() KX_REQUIRES(mu_);
  void Deliver(const std::vector<PodUpdate>& updates,
               const std::vector<std::shared_ptr<const Consumer>>& consumers) KX_REQUIRES(mu_);
  std::vector<std::shared_ptr<const Consumer>> AllLocked() const KX_REQUIRES(mu_);

  const Mode mode_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  base::CondVar turn_;
  bool delivering_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t last_id_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::uint64_t, std::shared_ptr<const Consumer>> consumers_ KX_GUARDED_BY(mu_);
  std::map<std::string, Pods, std::less<>> sources_ KX_GUARDED_BY(mu_);
  std::set<std::string, std::less<>> channels_ KX_GUARDED_BY(mu_);
  std::set<std::string, std::less<>> seen_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_POD_CONFIG_H_
