/// @file
/// RunningReconciles: the reconciles that a controller is running.
#ifndef KUBEXX_CONTROLLER_INTERNAL_RUNNING_RECONCILES_H_
#define KUBEXX_CONTROLLER_INTERNAL_RUNNING_RECONCILES_H_

#include <list>
#include <string>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::controller::internal {

/// The keys of the running reconciles and when each began. Thread-safe.
class RunningReconciles {
 public:
  explicit RunningReconciles(base::Clock& clock) : clock_(clock) {}

 private:
  struct Running {
    apimachinery::ObjectKey key{};
    base::TimePoint began{};
  };
  using Place = std::list<Running>::iterator;

 public:
  /// One running reconcile; the destructor marks its end.
  class Entry {
   public:
    Entry(RunningReconciles& owner, Place place) : owner_(owner), place_(place) {}
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    RunningReconciles& owner_;
    const Place place_;
  };

  Entry Enter(const apimachinery::ObjectKey& key);
  /// Describes the reconciles, for example "reconcile of ns/name for 12.5 s", the longest-running
  /// first. When there are many, it describes a few and says how many more there are.
  std::vector<std::string> Describe() const;

 private:
  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::list<Running> running_ KX_GUARDED_BY(mu_);  // The oldest one is in front.
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_RUNNING_RECONCILES_H_
