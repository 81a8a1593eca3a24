/// @file
/// Merges the sources of a node's pods.
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
/// its podStorage (`pkg/kubelet/config`): a pod is known by its source and UID; a pod that its
/// source gives again keeps the time when it was first seen; of two pods of one name, or of one
/// UID, in a source the first counts. Thread-safe: the sources call from threads of their own,
/// consumers are told by one of them at a time, in the order of the changes.
class PodConfig {
 public:
  /// What consumers are told of a change. As the kubelet's PodConfigNotificationMode.
  enum class Mode : std::uint8_t {
    kSnapshot,            ///< all pods of all sources, as a SET of kAllSources
    kSnapshotAndUpdates,  ///< that when pods come or go, otherwise UPDATE, DELETE and RECONCILE
    kIncremental,         ///< REMOVE, ADD, UPDATE, DELETE and RECONCILE of a source
  };
  using Consumer = std::function<void(const PodUpdate&)>;

  explicit PodConfig(Mode mode, base::Clock& clock = base::Clock::Real())
      : mode_(mode), clock_(clock) {}
  PodConfig(const PodConfig&) = delete;
  PodConfig& operator=(const PodConfig&) = delete;

  /// The entrance of a source, which from now on must be seen before Ready. What it is given is
  /// delivered when the call returns. Refers to this.
  PodSink Channel(std::string source);

  /// Tells `consumer` of every change from now on, first of all pods that are there (a SET of
  /// kAllSources, when a source has been seen), on this thread. It is called outside locks; while
  /// it runs, sources with changes wait. The end of the subscription waits for a call that is
  /// running, so a consumer must not end its own, and must come before the end of this.
  base::Subscription Subscribe(Consumer consumer);

  /// Takes an update of any operation but kReconcile, which follows from others. Blocks until the
  /// consumers have been told.
  void Merge(const PodUpdate& update);

  /// Whether every source has said once what it has: before that, a pod that nobody names may
  /// belong to one that is late. As the kubelet's SourcesReady.
  bool Ready() const;
  /// The sources with a channel that have not.
  std::vector<std::string> Missing() const;

  /// All pods of all sources, by source, namespace and name.
  std::vector<PodRef> State() const;
  /// Tells every consumer of the whole state, as a SET of kAllSources. As PodConfig.Sync.
  void Sync();

 private:
  /// By UID.
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
