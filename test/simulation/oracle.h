/// @file
/// Knows what should be, from what the server has stored.
#ifndef KUBEXX_TEST_SIMULATION_ORACLE_H_
#define KUBEXX_TEST_SIMULATION_ORACLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "scheduler.h"
#include "timeline.h"

namespace kubexx::simulation {

/// The annotation by which people say that a change of a pod template is theirs, each time with
/// another value: whose a change was must not be concluded from what operators conclude it from.
inline constexpr const char* kMarkAnnotation = "simulation/by";
/// The annotation by which people say that a Deployment's pause is theirs.
inline constexpr const char* kHeldAnnotation = "simulation/held";
/// Begins the mark of an undo.
inline constexpr const char* kUndoMark = "undo";

/// Follows the storage below the API server, so it sees every version of every object in order, and
/// holds the operators to their promise: pods run with the data that is there now, and nothing is
/// rolled more often than its data has changed. Thread-safe.
class Oracle {
 public:
  /// What it follows begins after this revision.
  static constexpr apiserver::storage::Revision kFirst = 1;

  /// Begins to follow `storage`, which must outlive it.
  Oracle(apiserver::storage::Storage& storage, Timeline& timeline);
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// Forgets all that it knows and follows `storage`, which must outlive it, after revision `base`.
  /// What is there was restored: what pods run with is not known.
  void Restart(apiserver::storage::Storage& storage, apiserver::storage::Revision base);

  /// A workload that runs with other data than its sources have, or that an operator has recorded
  /// other data for, in a sentence; nothing when there is none.
  std::optional<std::string> Stale();
  /// To be asked when nothing is stale: a workload that was rolled more often than there was a
  /// reason to since the last call. Begins anew.
  std::optional<std::string> TooMany();
  /// A rollout that nobody can have had a reason for, in a sentence; see Needless in the source.
  std::optional<std::string> Wrong();
  /// While this is so nothing goes wrong and all operators have run for long: they know the order
  /// of what they see, so that a rollout for data that new pods have already is wrong. `limited`:
  /// only one rollout at a time is to be under way in a namespace then.
  void SetStrict(bool strict, bool limited = false);
  /// All operators that run began at this time or later.
  void SetOldestOperator(Nanoseconds since);
  /// An operator sends a rollout of "deployments/ns/name" that goes by no version, as it may: what
  /// somebody asks for in the meantime does not count.
  void AllowBlind(const std::string& workload);
  /// Who holds the Lease; empty: nobody does.
  std::string HolderOf(const std::string& lease);

  /// A workload, other than a CronJob, whose spec has not been acted on, as its status tells.
  struct Unfinished {
    std::string plural{};  ///< "deployments"
    std::string space{};
    std::string name{};
    std::int64_t generation = 0;
    std::int64_t replicas = 0;
  };
  std::vector<Unfinished> UnfinishedWorkloads();
  /// Blocks until there is one. False: `stop` was requested.
  bool AwaitUnfinished(const std::stop_token& stop);

  /// What a workload was before its pod template became the present one, as JSON.
  struct Former {
    std::string pod_template{};
    std::string annotations{};  ///< of the workload itself
  };
  /// Of "deployments/ns/name", that which `kubectl rollout undo` would bring back.
  std::optional<Former> FormerOf(const std::string& workload);

  std::uint64_t rollouts();
  std::uint64_t changes();
  std::uint64_t events();

 private:
  struct Workload {
    std::string uid{};
    std::string template_text{};  ///< the whole template
    std::string others_text{};    ///< without what operators write there
    std::string stamps{};         ///< what operators say there that it was rolled for
    std::string mark{};           ///< of the last change that was not an operator's
    std::string annotations{};    ///< of the workload itself, as JSON
    std::deque<Former> formers{};
    /// What its pods read when they were made: the data of each source; nothing: there was none.
    std::map<std::string, std::optional<std::string>> read{};
    std::string baseline{};  ///< what an operator has recorded that it runs with
    std::int64_t generation = 0;
    std::int64_t observed = 0;
    std::int64_t replicas = 0;
    std::int64_t rolled_generation = 0;  ///< of the last rollout of an operator
    std::uint64_t rolled = 0;
    std::uint64_t reasons = 0;
    Nanoseconds made = 0;
    Nanoseconds template_since = 0;
    Nanoseconds data_since = 0;  ///< a source of it changed
    bool is_data_new = false;    ///< ... since it was made
    bool was_stamped = false;    ///< by a copy, when it was made
    bool is_of_others = true;    ///< the template's last change
    bool is_mixed = false;       ///< pods of several templates may be alive, or were undone
    bool is_opted_out = false;   ///< its people want no rollouts
    bool is_paused = false;      ///< spec.paused
    bool is_held = false;        ///< by its people
    bool is_unrecorded = false;  ///< its people want no baseline
    bool was_held = false;       ///< a source of it has been paused since it was made, or was then
    bool was_asked_for = false;  ///< its people have changed what they ask for since SetStrict
    Nanoseconds blind = -kMinute;  ///< a rollout was sent that goes by no version
  };

  void Follow(const std::stop_token& stop, apiserver::storage::Revision seen);
  void Apply(const apiserver::storage::Event& event);
  /// Workloads that use the source may be rolled once more.
  void AddReasonLocked(const std::string& source) KX_REQUIRES(mu_);
  void NotePauseLocked(const std::string& source, bool paused) KX_REQUIRES(mu_);
  void OnSourceLocked(const std::string& key, std::optional<std::string> data) KX_REQUIRES(mu_);
  void OnWorkloadLocked(const std::string& key, codec::JsonTree object) KX_REQUIRES(mu_);
  void OnCronJobLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  void OnJobLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// It was made: those who learn of it by a list do not know when.
  void BeginLocked(Workload& workload) KX_REQUIRES(mu_);
  static void ReadStatus(Workload& workload, const codec::JsonTree& object);
  static void ReadAnnotations(Workload& workload, const codec::JsonTree& object);
  /// `key`: the workload's.
  static void FindSources(Workload& workload, const std::string& key, const codec::JsonTree& pod);
  static void KeepFormer(Workload& workload, Former former);
  /// Why nobody can have had a reason for a rollout, which is not noted in `workload` yet: it was
  /// `before`, and has these stamps now. Empty: somebody can.
  std::string Needless(const Workload& workload, const Workload& before,
                       const std::string& stamps) const KX_REQUIRES(mu_);
  /// Another workload of the namespace that an operator's rollout is under way of; empty: none.
  std::string UnderWayBeside(const std::string& key) const KX_REQUIRES(mu_);
  bool HasPresentData(const Workload& workload) const KX_REQUIRES(mu_);
  /// Its pods are new.
  void ReadLocked(Workload& workload) KX_REQUIRES(mu_);
  /// Whether the baseline says of the source that it has these data.
  bool IsRecordedLocked(const std::string& workload, const std::string& source) KX_REQUIRES(mu_);

  apiserver::storage::Storage* storage_;
  Timeline& timeline_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::map<std::string, std::string> data_ KX_GUARDED_BY(mu_);        ///< by source
  std::map<std::string, Nanoseconds> changed_at_ KX_GUARDED_BY(mu_);  ///< by source
  std::set<std::string> jobs_ KX_GUARDED_BY(mu_);
  std::set<std::string> paused_ KX_GUARDED_BY(mu_);  ///< sources
  std::map<std::string, Workload> workloads_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string> holders_ KX_GUARDED_BY(mu_);  ///< by Lease
  apiserver::storage::Revision restored_ KX_GUARDED_BY(mu_) = 0;   ///< up to this one
  bool is_restored_ KX_GUARDED_BY(mu_) = false;                    ///< what is applied is older
  std::optional<std::string> wrong_ KX_GUARDED_BY(mu_);
  bool strict_ KX_GUARDED_BY(mu_) = false;
  bool limited_ KX_GUARDED_BY(mu_) = false;
  Nanoseconds oldest_operator_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t rollouts_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t changes_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t events_ KX_GUARDED_BY(mu_) = 0;
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_ORACLE_H_
