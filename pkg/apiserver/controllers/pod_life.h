/// @file
/// The statuses that a simulated kubelet gives a pod, and when. No I/O.
#ifndef KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_
#define KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::controllers {

/// The name of the simulated node on which pods run.
inline constexpr const char* kNodeName = "kubexx-node";
/// The address of the simulated node, from a network that is reserved for documentation. Nothing
/// answers there.
inline constexpr const char* kNodeAddress = "192.0.2.1";

/// The simulated node: ready, with room for 1,000 pods.
api::core::v1::Node SimulatedNode(const apimachinery::Time& now);

/// The status of a pod that fits on no node.
api::core::v1::PodStatus UnschedulableStatus(const api::core::v1::Pod& pod,
                                             const apimachinery::Time& now);

/// The status of a pod that has been running since `now`, and ready if its readiness gates allow
/// it.
api::core::v1::PodStatus RunningStatus(const api::core::v1::Pod& pod, const std::string& address,
                                       const apimachinery::Time& now);

/// The status of a running pod that is ready if each of its readiness gates has a condition that is
/// true, as a kubelet says it.
api::core::v1::PodStatus GatedStatus(const api::core::v1::Pod& pod, const apimachinery::Time& now);

/// The status of a pod whose containers have all ended without error at `now`.
api::core::v1::PodStatus SucceededStatus(const api::core::v1::Pod& pod,
                                         const apimachinery::Time& now);

/// The next step in a pod's life.
enum class PodStep : std::uint8_t {
  /// Nothing to do: it runs for ever, has ended, or belongs to another node or scheduler.
  kNothing,
  kSchedule,  ///< assign it to the simulated node
  kWait,      ///< wait for PodLives::Next::wait
  kRun,
  kGate,  ///< it is ready, or no longer, because of its readiness gates: write GatedStatus
  kSucceed,
  kRemove,  ///< somebody deleted it: remove the object, as its containers have ended
  kOrphan,  ///< somebody deleted it on another node: remove it if that node does not exist
};

/// Decides which step each pod takes next. A pod waits `delay` before each of kRun and kSucceed.
/// Remembers since when pods wait. Thread-safe.
class PodLives {
 public:
  explicit PodLives(base::Duration delay) : delay_(delay) {}

  /// A step, and how long to wait before it.
  struct Next {
    PodStep step = PodStep::kNothing;
    /// For kWait: how long to wait.
    base::Duration wait{0};
    bool operator==(const Next&) const = default;
  };
  /// The next step of the pod `pod`. A pod with restartPolicy Always runs for ever; others end
  /// after the delay. One that is deleted ends at once.
  Next Of(const api::core::v1::Pod& pod, base::TimePoint now);
  /// Must be called when the pod with this key has taken its step or is gone.
  void Forget(const apimachinery::ObjectKey& pod);
  /// Of how many pods it remembers since when they wait.
  std::size_t waiting() const;

 private:
  struct Waiting {
    std::string uid{};  ///< another one is another pod, which has just begun to wait
    base::TimePoint since{};
  };
  const base::Duration delay_;
  mutable base::Mutex mu_;
  std::map<apimachinery::ObjectKey, Waiting> waiting_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_
