/// @file
/// The starts of rollouts that a process remembers, whatever becomes of the annotations.
#ifndef KUBEXX_RELOADPOLICY_LAST_STARTS_H_
#define KUBEXX_RELOADPOLICY_LAST_STARTS_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

/// Remembers when the last rollout of each workload began, so that a minimum interval also counts
/// from a rollout whose annotation somebody has removed, set back or replaced. Holds one entry for
/// each workload at most, and drops those that no interval counts from any more. Pure; a value
/// type.
class LastStarts {
 public:
  /// The class ignores a start that lies further in the future than this: the arbiter dates a
  /// rollout ahead by seconds only, to tell it from the one before.
  static constexpr base::Duration kMostAhead = std::chrono::minutes(1);

  /// Records that a rollout of the workload with this uid began at `started`; a start earlier than
  /// the known one changes nothing. A different uid means a different object, whose rollouts do not
  /// count. Jobs are an exception, because a rollout deletes a Job and creates a new one. An empty
  /// uid means that the uid is not known. `own_interval`: the interval that the workload's own
  /// annotation asks for; see Prune.
  void Note(const ObjectRef& workload, const std::string& uid, base::WallTime started,
            base::Duration own_interval = {});
  /// The latest start that is known of the workload with this uid.
  std::optional<base::WallTime> Find(const ObjectRef& workload, const std::string& uid) const;
  /// The workload was deleted.
  void Forget(const ObjectRef& workload) { starts_.erase(workload); }
  /// Moves starts in the future to `now`: the clock has been set back.
  void Clamp(base::WallTime now);
  /// Drops each start after which, at `now`, both the interval that `longest_for` returns for the
  /// workload and the `own_interval` that was recorded with the start have passed.
  void Prune(base::WallTime now, base::FunctionRef<base::Duration(const ObjectRef&)> longest_for);
  std::size_t size() const { return starts_.size(); }

 private:
  struct Entry {
    std::string uid{};
    base::WallTime started{};
    base::Duration own_interval{};
  };
  static bool IsAnother(const ObjectRef& workload, const Entry& entry, const std::string& uid);

  std::map<ObjectRef, Entry> starts_;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_LAST_STARTS_H_
