/// @file
/// Changes of sources, for workloads that are not watched.
#ifndef KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_
#define KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/watch/unreferenced_sources.h"
#include "kubexx/reloader/watch/workload_source.h"

namespace kubexx::cache {
class SharedInformerBase;
}

namespace kubexx::reloader {

struct InformerSet;

/// Collects the changes of sources while workloads are listed, and passes each on once the store
/// has a list that began after it: one list answers all changes that wait, however many there are.
/// Until it is known whether a kind may be watched, as between its list and the first event of its
/// watch, it also remembers what changes: a workload that was made in that time is in no list yet.
/// Thread-safe.
class OnDemandLists {
 public:
  /// One kind in one namespace, or in all when the namespace is empty.
  struct Member {
    std::string namespace_{};
    std::shared_ptr<WorkloadSource> source{};
    std::shared_ptr<cache::SharedInformerBase> informer{};
  };
  /// A change; without digest when the source has just appeared, or when it is not the data that
  /// has changed. Of several changes of one source the first digest counts.
  using Pass = std::function<void(const SourceId&, const std::optional<Digest>& before)>;

  /// `pass` is called on this object's thread, and must not block for long.
  OnDemandLists(std::vector<Member> members, base::Clock& clock, Pass pass);
  /// Drops what waits, and joins.
  ~OnDemandLists() = default;
  OnDemandLists(const OnDemandLists&) = delete;
  OnDemandLists& operator=(const OnDemandLists&) = delete;

  /// One for each source of workloads of these informers.
  static std::vector<Member> MembersOf(const std::vector<InformerSet>& informers);

  void Start();
  void Stop();
  /// Takes a change when something in its namespace is on demand; whether it did. When no known
  /// workload uses the source it may wait: see UnreferencedSources.
  /// `version`: its resourceVersion with the change, when known.
  bool Changed(const SourceId& source, const std::optional<Digest>& before, bool is_used,
               std::uint64_t version = 0);
  /// The digests from before the changes in the namespace that wait, or are being listed for: a
  /// workload that a list brings may run with the data from before.
  std::vector<std::pair<SourceId, Digest>> Before(std::string_view namespace_) const;
  /// The same for a workload that a watch brings and that was made at resource version `version`:
  /// of changes that were made after it, while it was not known whether it would be watched. 0: it
  /// is not known when it was made, and all of them count.
  std::vector<std::pair<SourceId, Digest>> BeforeSince(std::string_view namespace_,
                                                       std::uint64_t version) const;
  /// Whether workloads of the kind in the namespace are on demand: their changes come by `pass`.
  bool Covers(WorkloadKind kind, std::string_view namespace_) const;

 private:
  using Changes = std::map<SourceId, std::optional<Digest>>;
  /// The namespaces to list, and how new the lists must be at least.
  using Namespaces = std::map<std::string, std::uint64_t>;
  /// What is to be listed for.
  struct Round {
    Changes changes{};
    Namespaces namespaces{};
  };
  /// A list that a member has not brought in its time, and the changes that it is to answer. They
  /// have been passed on once, and are again when it comes: it may bring a workload that was made
  /// before them.
  struct Overdue {
    std::uint64_t number = 0;
    Changes changes{};
  };
  using Missing = std::vector<std::pair<const Member*, std::uint64_t>>;
  struct Waiting {
    std::optional<Digest> before{};
    base::TimePoint due{};
    bool is_used = false;
    std::uint64_t version = 0;
  };

  /// A change that was made while it was in doubt whether all workloads are watched.
  struct Doubtful {
    Digest before{};
    std::uint64_t version = 0;
    bool is_used = false;
    base::TimePoint at{};
    std::size_t members = 0;  ///< on demand in its namespace, and told of it
  };
  /// How many members in a namespace are on demand, and in doubt.
  struct Count {
    std::size_t on_demand = 0;
    std::size_t in_doubt = 0;
  };

  static bool IsIn(const Member& member, std::string_view namespace_);
  Count CountIn(std::string_view namespace_) const;
  void AddLocked(const SourceId& source, const std::optional<Digest>& before, bool is_used,
                 std::uint64_t version) KX_REQUIRES(mu_);
  /// Has what was in doubt listed for where watches have been refused since, and forgets it where
  /// they have not.
  void ResolveDoubtsLocked() KX_REQUIRES(mu_);
  void Run(const std::stop_token& stop);
  /// Blocks until something is due; that, and what the same lists answer, which is listed_for_ from
  /// now on. Empty when `stop` is requested first, and now and then while lists are overdue.
  Round Await(const std::stop_token& stop);
  base::TimePoint NextDueLocked() const KX_REQUIRES(mu_);
  /// Returns the lists that have not come in time.
  Missing List(const Namespaces& namespaces, const std::stop_token& stop);
  /// Whether the list is in the store; also when the member is not on demand any more, and what it
  /// has is.
  static bool HasCome(const Member& member, std::uint64_t number, const std::stop_token& stop);
  void NoteOverdue(const Missing& missing, const Changes& changes);
  /// Passes on what overdue lists answer that have come meanwhile.
  void PassOverdue(const std::stop_token& stop);
  /// Lists the namespaces only; false when that is more work than to list everything, or cannot be
  /// done.
  bool ListParts(const Member& member, const Namespaces& namespaces, const std::stop_token& stop);
  /// Blocks until `is_there`, for a while; whether it is.
  bool AwaitStored(base::FunctionRef<bool()> is_there, const std::stop_token& stop);

  const std::vector<Member> members_;
  base::Clock& clock_;
  const Pass pass_;
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::map<SourceId, Waiting> waiting_ KX_GUARDED_BY(mu_);
  std::map<SourceId, Doubtful> doubtful_ KX_GUARDED_BY(mu_);
  UnreferencedSources unreferenced_ KX_GUARDED_BY(mu_);
  Changes listed_for_ KX_GUARDED_BY(mu_);
  std::map<const Member*, Overdue> overdue_ KX_GUARDED_BY(mu_);
  /// One list a second: a burst of changes is answered together.
  base::TimePoint next_round_ KX_GUARDED_BY(mu_){};
  std::jthread thread_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_ON_DEMAND_LISTS_H_
