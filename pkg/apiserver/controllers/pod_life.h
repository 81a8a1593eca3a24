/// @file
/// What a simulated kubelet says of a pod, and when: without any I/O.
#ifndef KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_
#define KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::controllers {

/// The node that pods are said to run on.
inline constexpr const char* kNodeName = "kubexx-node";
/// Its address, of a network for documentation: nothing answers there.
inline constexpr const char* kNodeAddress = "192.0.2.1";

/// That node, ready, with room for 1,000 pods.
api::core::v1::Node SimulatedNode(const apimachinery::Time& now);

/// The status of a pod that no node is fit for.
api::core::v1::PodStatus UnschedulableStatus(const api::core::v1::Pod& pod,
                                             const apimachinery::Time& now);

/// The status of a pod that runs and is ready since `now`.
api::core::v1::PodStatus RunningStatus(const api::core::v1::Pod& pod, const std::string& address,
                                       const apimachinery::Time& now);

/// The status of a running pod all of whose containers have ended without error.
api::core::v1::PodStatus SucceededStatus(const api::core::v1::Pod& pod,
                                         const apimachinery::Time& now);

/// What is next in a pod's life.
enum class PodStep : std::uint8_t {
  kNothing,   ///< it runs for good, has ended, or is another node's or another scheduler's
  kSchedule,  ///< it has no node
  kWait,      ///< see PodLives::Next
  kRun,
  kSucceed,
  kRemove,  ///< somebody deleted it: its containers are gone
  kOrphan,  ///< somebody deleted it on another node: it goes when there is no such node
};

/// Which step each pod takes next. A pod waits `delay` before each of kRun and kSucceed.
/// Thread-safe; remembers the pods that wait.
class PodLives {
 public:
  explicit PodLives(base::Duration delay) : delay_(delay) {}

  /// A step, and when.
  struct Next {
    PodStep step = PodStep::kNothing;
    /// Of kWait: for how long.
    base::Duration wait{0};
    bool operator==(const Next&) const = default;
  };
  /// A pod as it is now. Those that are always restarted run for good, others end some time.
  Next Of(const api::core::v1::Pod& pod, base::TimePoint now);
  /// The pod with this uid has taken its step, or is gone.
  void Forget(const std::string& uid);

 private:
  const base::Duration delay_;
  base::Mutex mu_;
  /// From when pods wait, by uid.
  std::map<std::string, base::TimePoint> since_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_POD_LIFE_H_
