/// @file
/// Handles changes of sources for workloads that the operator may list, but not watch.
#ifndef KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_
#define KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/scheduled_task.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/watch/unreferenced_sources.h"
#include "kubexx/reloader/watch/workload_list_watch.h"

namespace kubexx::cache {
class SharedInformerBase;
}

namespace kubexx::reloader {

struct InformerSet;

/// Collects changes of sources, has the workloads listed, and passes each change on after the store
/// contains a list that began later than the change. One list serves all changes that are waiting.
/// Between a kind's list and the first event of its watch it is not known whether the kind may be
/// watched. During that time the changes are also stored here, because no list contains a workload
/// that is created then.
/// Thread-safe.
class OnDemandLists {
 public:
  /// One kind of workloads in one namespace; in all namespaces when `namespace_` is empty.
  struct Member {
    std::string namespace_{};
    std::shared_ptr<WorkloadListWatch> list_watch{};
    std::shared_ptr<cache::SharedInformerBase> informer{};
  };
  /// Receives a change. `before` is std::nullopt when the source has just appeared, or when
  /// something other than its data has changed. If a source changes several times, `before` is from
  /// the first change.
  using Pass = std::function<void(const SourceId&, const std::optional<Digest>& before)>;

  /// `pass` is called by one task of `executor`, or on a thread of this object's own when that is
  /// null, and must not block for long.
  OnDemandLists(std::vector<Member> members, base::Clock& clock, Pass pass,
                std::shared_ptr<base::Executor> executor = {});
  /// Stops.
  ~OnDemandLists() = default;
  OnDemandLists(const OnDemandLists&) = delete;
  OnDemandLists& operator=(const OnDemandLists&) = delete;

  /// One member for each list-watch of workloads in `informers`.
  static std::vector<Member> MembersOf(const std::vector<InformerSet>& informers);

  /// Throws std::system_error when the system has not enough threads.
  void Start();
  /// Drops the changes that are waiting, and ends the lists that are under way.
  void Stop() { task_.Stop(); }
  /// Takes a change if workloads in its namespace are listed on demand, and returns whether it did.
  /// When no known workload uses the source (`is_used` is false) the change may have to wait; see
  /// UnreferencedSources. `version`: the source's resourceVersion after the change, or 0.
  bool Changed(const SourceId& source, const std::optional<Digest>& before, bool is_used,
               std::uint64_t version = 0);
  /// The sources in the namespace with changes that wait or are being listed for, and their digests
  /// before these changes. A workload that a list brings may run with the earlier data.
  std::vector<std::pair<SourceId, Digest>> Before(std::string_view namespace_) const;
  /// The same for a workload that a watch brings and that was created at resource version
  /// `version`. Returns the changes that were made later than that, while it was not known whether
  /// the workload would be watched. 0: the version is not known, and all such changes are returned.
  std::vector<std::pair<SourceId, Digest>> BeforeSince(std::string_view namespace_,
                                                       std::uint64_t version) const;
  /// Whether workloads of the kind in the namespace are listed on demand, so that changes reach
  /// them through `pass`.
  bool Covers(WorkloadKind kind, std::string_view namespace_) const;

 private:
  using Changes = std::map<SourceId, std::optional<Digest>>;
  /// The namespaces to list, and the lowest resource version that each list must have.
  using Namespaces = std::map<std::string, std::uint64_t>;
  /// The changes that one round of lists serves.
  struct Round {
    Changes changes{};
    Namespaces namespaces{};
  };
  /// Lists of single namespaces. Each turns true when the store has it.
  using Parts = std::vector<std::shared_ptr<const std::atomic<bool>>>;
  /// Lists of a member that the store has not got in time, and the changes that they serve. The
  /// changes have been passed on once already, and are passed on again when the lists are stored:
  /// they may bring a workload that was created before the changes.
  struct Overdue {
    std::uint64_t number = 0;  ///< of a list of everything; 0: of none
    Parts parts{};
    Changes changes{};
  };
  using Missing = std::map<const Member*, Overdue>;
  struct Waiting {
    std::optional<Digest> before{};
    base::TimePoint due{};
    bool is_used = false;
    std::uint64_t version = 0;
  };

  /// A change that was made while it was not known whether all workloads are watched.
  struct Doubtful {
    Digest before{};
    std::uint64_t version = 0;
    bool is_used = false;
    base::TimePoint at{};
    std::size_t members = 0;  ///< on demand in its namespace and informed of the change
  };
  /// The number of members in a namespace that are on demand, and of those for which it is not
  /// known yet.
  struct Count {
    std::size_t on_demand = 0;
    std::size_t in_doubt = 0;
  };

  static bool IsIn(const Member& member, std::string_view namespace_);
  Count CountIn(std::string_view namespace_) const;
  void AddLocked(const SourceId& source, const std::optional<Digest>& before, bool is_used,
                 std::uint64_t version) KX_REQUIRES(mu_);
  /// Has doubtful changes listed for where watches have been refused since, and forgets them where
  /// watches have been granted.
  void ResolveDoubtsLocked() KX_REQUIRES(mu_);
  /// Lists for what is due, and returns when to look again.
  base::TimePoint Step(const std::stop_token& stop);
  /// Returns the changes that are due together with all others that the same lists serve;
  /// listed_for_ holds them from then on.
  Round TakeDue();
  /// Returns when to look again.
  base::TimePoint NextLook() const;
  base::TimePoint NextDueLocked() const KX_REQUIRES(mu_);
  /// Returns the lists that have not arrived in time.
  Missing List(const Namespaces& namespaces, const std::stop_token& stop);
  /// Whether the lists are in the store. Also true when the member is not on demand any more, and
  /// its store is up to date.
  static bool HasCome(const Member& member, const Overdue& overdue, const std::stop_token& stop);
  static bool AreStored(const Parts& parts);
  /// Whether lists of single namespaces still wait for the member's store.
  bool HasOverdueParts(const Member& member) const;
  void NoteOverdue(Missing&& missing, const Changes& changes);
  /// Passes on the changes of overdue lists that have arrived in the meantime.
  void PassOverdue(const std::stop_token& stop);
  /// Lists only these namespaces. Returns the lists that the store has not got in time, and
  /// std::nullopt when that costs more than listing everything, or is not possible, or when earlier
  /// ones still wait for the store: those of a task are queued without a bound, whereas the list of
  /// everything begins when the queue has room.
  std::optional<Parts> ListParts(const Member& member, const Namespaces& namespaces,
                                 const std::stop_token& stop);
  /// Blocks for a limited time until `is_there` returns true. Returns whether it did.
  bool AwaitStored(base::FunctionRef<bool()> is_there, const std::stop_token& stop);

  const std::vector<Member> members_;
  base::Clock& clock_;
  const Pass pass_;
  mutable base::Mutex mu_;
  std::map<SourceId, Waiting> waiting_ KX_GUARDED_BY(mu_);
  std::map<SourceId, Doubtful> doubtful_ KX_GUARDED_BY(mu_);
  UnreferencedSources unreferenced_ KX_GUARDED_BY(mu_);
  Changes listed_for_ KX_GUARDED_BY(mu_);
  Missing overdue_ KX_GUARDED_BY(mu_);
  /// Limits the rate to one round of lists per second, so that a burst of changes shares a list.
  base::TimePoint next_round_ KX_GUARDED_BY(mu_){};
  base::ScheduledTask task_;  // last: ends before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_
