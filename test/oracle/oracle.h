/// @file
/// Knows what should be, from what the server has stored.
#ifndef KUBEXX_TEST_ORACLE_ORACLE_H_
#define KUBEXX_TEST_ORACLE_ORACLE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "oracle/observed_workload.h"

namespace kubexx::oracle {

/// How an Oracle judges.
struct OracleOptions {
  /// What it follows begins after this revision.
  apiserver::storage::Revision first = 1;
  /// A rollout whose record has the present data of all sources uses up every reason from before
  /// it. Without this a reason counts until the next call of TooMany.
  bool exact = false;
  /// Some workloads name sources of other namespaces.
  bool shares = false;
  /// What time it is.
  std::function<base::TimePoint()> now = [] { return base::Clock::Real().Now(); };
};

/// Follows the storage below the API server, so it sees every version of every object in order, and
/// holds the operators to their promise: pods run with the data that is there now, and nothing is
/// rolled more often than its data has changed, or for nothing. Objects are stored as JSON. People
/// have to say on workloads what is theirs, by kMarkAnnotation and kHeldAnnotation. Thread-safe.
class Oracle {
 public:
  /// Told of what happens, on the thread that follows: who did what. May not call the oracle.
  using Tell = std::function<void(std::string_view who, std::string_view what)>;

  /// Begins to follow `storage`, which must outlive it.
  Oracle(apiserver::storage::Storage& storage, Tell tell, OracleOptions options = {});
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// Forgets all that it knows and follows `storage`, which must outlive it, after revision `base`.
  /// What is there was restored: what pods run with is not known.
  void Restart(apiserver::storage::Storage& storage, apiserver::storage::Revision base);

  /// OldPods, else OldRecord.
  std::optional<std::string> Stale();
  /// A workload that runs with other data than its sources have, or that an operator has paused, in
  /// a sentence; nothing when there is none.
  std::optional<std::string> OldPods();
  /// A workload that an operator has recorded other data for.
  std::optional<std::string> OldRecord();
  /// A workload whose baseline leaves whoever begins now in doubt what its pods have of a source,
  /// though operators that run know that, in a sentence: what they see of such writes they record.
  std::optional<std::string> LeftInDoubt();
  /// To be asked when no pods are old: a workload that was rolled more often than there was a
  /// reason to since the last call. Begins anew.
  std::optional<std::string> TooMany();
  /// The first rollout since the last call that nobody can have had a reason for, in a sentence;
  /// see NeedlessLocked in the source. Also, that an operator ended a person's pause.
  std::optional<std::string> Wrong();

  // What somebody may know besides, and judge more strictly by.

  /// While this is so nothing goes wrong and all operators have run for long: they know the order
  /// of what they see, so that a rollout for data that new pods have already is wrong. `limited`:
  /// only one rollout at a time is to be under way in a namespace then.
  void SetStrict(bool strict, bool limited = false);
  /// While this is so all operators see everything in order, though what they send may get lost:
  /// pods must have the present data also where there is no record that tells.
  void SetWatched(bool watched);
  /// All operators that run began at this time or later.
  void SetOldestOperator(base::TimePoint since);
  /// An operator sends a rollout of "deployments/ns/name" that goes by no version, as it may: what
  /// somebody asks for in the meantime does not count.
  void AllowBlind(const std::string& workload);

  /// What policies say about waves that are in force.
  struct Waves {
    std::set<std::string> spaces{};  ///< namespaces; empty: there are no such policies
    std::string canary{};            ///< the name of the workloads that are the first wave
    /// How long a wave has to be healthy before the next one begins.
    base::Duration healthy_for{};
  };
  /// From now on these waves are in force, operators know of them, and all workloads run with the
  /// present data. In the waves after the canaries there are one workload, and all others.
  void SetWaves(Waves waves);
  /// The clocks of operators differ: until the next SetWaves a wave is done once it is healthy.
  void IgnoreWaveTimes();

  /// Who holds the Lease; empty: nobody does.
  std::string HolderOf(const std::string& lease);

  /// What a workload was before its pod template became the present one, as JSON.
  struct Former {
    std::string pod_template{};
    std::string annotations{};  ///< of the workload itself
  };
  /// Of "deployments/ns/name", that which `kubectl rollout undo` would bring back.
  std::optional<Former> FormerOf(const std::string& workload);

  /// A workload, other than a CronJob, whose spec has not been acted on, as its status tells.
  struct Unfinished {
    std::string plural{};  ///< "deployments"
    std::string space{};
    std::string name{};
    std::int64_t generation = 0;
    /// Of the Deployment that a Rollout names; 0: it names none.
    std::int64_t base_generation = 0;
    std::int64_t replicas = 0;
    bool crashes = false;      ///< its containers do with their data
    bool is_crashing = false;  ///< and its status says so
  };
  std::vector<Unfinished> UnfinishedWorkloads();

  /// A SecretProviderClass that the pods of a workload mount.
  struct Mount {
    std::string space{};
    std::string provider_class{};
    std::string workload{};  ///< begins the names of its pods, and of no other's
    std::string pods{};      ///< begins the names of the pods of its present template
    bool is_through = true;  ///< there are no others
  };
  std::vector<Mount> Mounts();
  /// The pods of a workload, for who plays their kubelets.
  struct Running {
    std::string uid{};           ///< of the workload
    std::string pods{};          ///< begins the names of the pods of its present template
    std::string pod_template{};  ///< as JSON
    /// What they have, by source.
    std::map<std::string, std::optional<std::string>> read{};
  };
  /// Of "deployments/ns/name"; nothing: it is not there.
  std::optional<Running> RunningOf(const std::string& workload);
  /// The present data of the source; nothing: it is not there.
  std::optional<std::string> PresentData(const std::string& source);
  /// All pods of the workload with these names have read these data of the source anew.
  void Reloaded(const std::string& workload, const std::string& pods, const std::string& source,
                const std::string& data);
  /// Another pod of the present template of "deployments/ns/name" begins, with the present data,
  /// if its pods begin one after the other: until its status tells of the change that made them.
  void PodBegins(const std::string& workload);
  /// Blocks until there is one. False: `stop` was requested.
  bool AwaitUnfinished(const std::stop_token& stop);

  struct Counts {
    std::uint64_t events = 0;
    std::uint64_t changes = 0;   ///< of data
    std::uint64_t rollouts = 0;  ///< by operators
    /// Of those, how many gave pods no other data than those that they replaced had.
    std::uint64_t without_news = 0;
    /// Of those, how many only a doubt allows that an operator may have: see docs/simulation.md.
    std::uint64_t doubted = 0;
    std::uint64_t undone = 0;      ///< by people
    std::uint64_t reloaded = 0;    ///< sources that all pods of a workload have read anew
    std::uint64_t restored = 0;    ///< sources that operators have put data back into
    std::uint64_t later_pods = 0;  ///< that began with other data than those before them
    /// Workloads in which nobody has replaced such pods, though the source has other data by now.
    std::uint64_t left_behind = 0;
  };
  Counts counts();
  /// The last revision that it has been told of.
  apiserver::storage::Revision seen();

 private:
  void Follow(const std::stop_token& stop);
  void Apply(const apiserver::storage::Event& event);
  void ForgetLocked(const std::string& name) KX_REQUIRES(mu_);
  void OnObjectLocked(const std::string& name, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// A pod tells what it has of a SecretProviderClass.
  void OnPodStatusLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// A pod of which `key` is the status tells nothing any more. When no pod tells of a class, as
  /// after its API was taken away, an operator whose watch was behind learns no more of its last
  /// changes: those that tell of it later begin with what there is, and their versions are as good
  /// as the one that it knows. Where all are gone that told of the last change, and others tell of
  /// the class, see IsUntoldLocked.
  void GoneLocked(const std::string& key) KX_REQUIRES(mu_);
  /// It has: or, of a SecretProviderClass, what is as good.
  bool HasLocked(const std::string& source, const std::string& data) const KX_REQUIRES(mu_);
  /// Whether the workload's baseline has the present data of the source, which is there.
  bool IsRecordedLocked(const ObservedWorkload& workload, const std::string& source) const
      KX_REQUIRES(mu_);
  /// Whether an operator whose watch was behind learns nothing of the change of a
  /// SecretProviderClass that replaced what the workload's pods pass for having. The pods that told
  /// of it are gone, and all that are there began with what is current, also those of the workload,
  /// which others than the operator began: they were on their way when the change was told of.
  bool IsUntoldLocked(const ObservedWorkload& workload, const std::string& source) const
      KX_REQUIRES(mu_);
  /// Whether all operators have begun since the last change of the source.
  bool IsFromBeforeLocked(const std::string& source) const KX_REQUIRES(mu_);
  /// Whether all pods that the workload's present template ever had, as far as they have told of
  /// the SecretProviderClass, began with what is current. It holds only of pods of which the API of
  /// their statuses could tell from the beginning.
  bool HasBegunWithLocked(const std::string& key, const ObservedWorkload& workload,
                          const std::string& source) const KX_REQUIRES(mu_);
  void OnLeaseLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// Workloads that use the source may be rolled once more.
  void AddReasonLocked(const std::string& source) KX_REQUIRES(mu_);
  void NotePauseLocked(const std::string& source, bool paused) KX_REQUIRES(mu_);
  void OnSourceLocked(const std::string& key, std::optional<std::string> data) KX_REQUIRES(mu_);
  /// Takes the namespace of an object into account: its workloads may name the sources of others.
  void MeetLocked(const std::string& name) KX_REQUIRES(mu_);
  /// Takes a source as it is now, null when it is gone, for what workloads of other namespaces have
  /// of it. Whether it allows them to name it, operators see; with what pods begin meanwhile, they
  /// do not.
  void OnSharedLocked(const std::string& source, const codec::JsonTree* object) KX_REQUIRES(mu_);
  void OnSharedWithLocked(const std::string& source, const std::string& space) KX_REQUIRES(mu_);
  /// Whether a rollout with these stamps, after those before, is for data of a source of another
  /// namespace that operators cannot have seen, as it has not allowed that since before it had
  /// them.
  bool IsForHiddenLocked(const ObservedWorkload& before, const std::string& stamps) const
      KX_REQUIRES(mu_);
  /// The same with a source of several keys, and all views of it.
  void OnKeysLocked(const std::string& source, const std::optional<std::string>& data)
      KX_REQUIRES(mu_);
  /// Whether it uses the source, or a view of it.
  static bool Uses(const ObservedWorkload& workload, const std::string& source);
  void OnWorkloadLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// A Deployment with kBaseAnnotation.
  void OnBaseLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// A Rollout that names a Deployment.
  void OnReferringLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  void OnCronJobLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  void OnJobLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// A Job that people have made, or an operator anew.
  void OnOwnJobLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// It was made: those who learn of it by a list do not know when.
  void BeginLocked(ObservedWorkload& workload) KX_REQUIRES(mu_);
  void KeepFormerLocked(const std::string& key, const ObservedWorkload& before) KX_REQUIRES(mu_);
  /// An operator has rolled it, which is not noted in `workload` yet: it was `before`, and has
  /// these stamps now.
  void OnRolloutLocked(const std::string& key, ObservedWorkload& workload,
                       const ObservedWorkload& before, const std::string& stamps) KX_REQUIRES(mu_);
  /// Why nobody can have had a reason for such a rollout. Empty: somebody can.
  std::string NeedlessLocked(const std::string& key, const ObservedWorkload& workload,
                             const ObservedWorkload& before, const std::string& stamps) const
      KX_REQUIRES(mu_);
  /// Why it was too early for such a rollout, as an earlier wave is not done. Empty: it was not.
  std::string TooEarlyLocked(const std::string& key, const ObservedWorkload& workload,
                             const ObservedWorkload& before) const KX_REQUIRES(mu_);
  /// Notes for which data the workload was rolled in waves.
  void NoteRolledLocked(const std::string& name, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// When an operator has put data back into the source: it may only put back what the source had,
  /// over data that a wave was rolled for, which nobody has replaced meanwhile, and once over each.
  void JudgeRestoreLocked(const std::string& source, const codec::JsonTree& object)
      KX_REQUIRES(mu_);
  /// Whether the present data of the source, or of a view of it, are those that were put back.
  bool IsPutBackLocked(const std::string& source) const KX_REQUIRES(mu_);
  /// While waves are judged: later waves may follow with the data that its pods have.
  void ProveLocked(const std::string& key, ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// The same once it has been healthy with them for long enough.
  void ProveHealthyLocked(const std::string& key, ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// Whether an operator that began lately cannot know that the pods of the workload,
  /// "plural/ns/name", have the present data of some source: each reason is told at its function.
  bool IsInDoubtLocked(const std::string& key, const ObservedWorkload& workload) const
      KX_REQUIRES(mu_);
  /// An operator that began after the last release of the workload, and after a source was written
  /// since then, has to doubt what the baseline says of that source.
  bool IsInDoubtOfLocked(const std::string& key, const ObservedWorkload& workload,
                         const std::string& source) const KX_REQUIRES(mu_);
  /// A Rollout that names a Deployment was rolled, and the operator ended before it wrote the
  /// baseline. The template names the version of the source for which it was written. If the source
  /// was written since then, be it only a label, nothing tells whether the data were others when
  /// the pods began. A SecretProviderClass has no version that a template could name.
  bool IsBetweenWritesLocked(const ObservedWorkload& workload, const std::string& source) const
      KX_REQUIRES(mu_);
  /// Of a Rollout without a baseline one key of the source counts, another key was written since
  /// people released the Rollout, and an operator has begun, or begun to lead, after that. It has
  /// seen a change at most, and not of which key. The variable of the last rollout is right, but
  /// all containers of a custom resource are one managed field: whoever released may have brought
  /// the variable back by an undo.
  bool IsOfAnotherKeyLocked(const std::string& key, const ObservedWorkload& workload,
                            const std::string& source) const KX_REQUIRES(mu_);
  /// A Rollout was made soon after its API was installed. Operators ask for such an API every
  /// minute, and are told of the Rollout by a list then, so they do not know its age.
  bool IsToldByListLocked(const std::string& key, const ObservedWorkload& workload) const
      KX_REQUIRES(mu_);
  /// A source of the workload has changed less than a quarter of an hour before the workload was
  /// made, or since.
  bool IsMadeAfterChangeLocked(const ObservedWorkload& workload) const KX_REQUIRES(mu_);
  /// The workload was made, or made anew, lately, no operator has written it since, and its data
  /// have changed around that time. An operator that is told of it by a list, for example because
  /// it had no right to watch, does not know whether the change or the workload was first.
  bool IsOfUnknownAgeLocked(const ObservedWorkload& workload) const KX_REQUIRES(mu_);
  /// Sets ObservedWorkload::is_doubted_in_place of what `before` has become.
  void SeeReloadInPlaceLocked(const std::string& key, const ObservedWorkload& before,
                              ObservedWorkload& workload) const KX_REQUIRES(mu_);
  /// Before any operator began, people released the workload, the source's data came back to those
  /// of the baseline, and whoever had released wrote something else of the workload. The managed
  /// fields have the time of that write for the template, so its pods pass for younger than the
  /// data.
  bool IsHiddenLocked(const ObservedWorkload& workload, const std::string& source) const
      KX_REQUIRES(mu_);
  /// Somebody took the workload's baseline away before all operators began, and it is rolled for a
  /// source of which its variable told of other data, though its pods have the present ones: a
  /// release began them, or a rollout for another source. Nothing tells an operator when the data
  /// changed: the removal of a key has no time. `stamps`: those of the rollout.
  bool IsLeftToVariablesLocked(const ObservedWorkload& workload, const std::string& stamps) const
      KX_REQUIRES(mu_);
  void SetWrongLocked(std::string what) KX_REQUIRES(mu_);
  /// Another workload of the namespace that an operator's rollout is under way of; empty: none.
  std::string UnderWayBesideLocked(const std::string& key) const KX_REQUIRES(mu_);
  bool HasPresentDataLocked(const ObservedWorkload& workload) const KX_REQUIRES(mu_);
  /// A source of which pods that began later have other data than it has now; null: there is none.
  const std::string* OldOfLaterPodsLocked(const ObservedWorkload& workload) const KX_REQUIRES(mu_);
  /// Counts the workload as left behind if it is, once for its pods.
  void CountLeftBehindLocked(const std::string& key, ObservedWorkload& workload) KX_REQUIRES(mu_);
  void JudgeLocked(const std::string& key, ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// Its pods are new.
  void ReadLocked(ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// An operator has seen it for the first time, maybe before the last change of its data.
  void ReadAsRecordedLocked(const std::map<std::string, std::optional<std::string>>& began_with,
                            ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// Whether its baseline has the present data of all sources that are there.
  bool IsUpToDateLocked(const ObservedWorkload& workload) KX_REQUIRES(mu_);
  /// The present data of what is not paused; null: there are none.
  const std::string* DataOfLocked(const std::string& source) const KX_REQUIRES(mu_);

  apiserver::storage::Storage* storage_;  ///< changes while nothing follows
  const Tell tell_;
  const OracleOptions options_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::map<std::string, std::string> data_ KX_GUARDED_BY(mu_);            ///< by source or view
  std::map<std::string, base::TimePoint> changed_at_ KX_GUARDED_BY(mu_);  ///< by source or view
  std::map<std::string, std::string> data_before_ KX_GUARDED_BY(mu_);     ///< their last change
  /// At which revision a source was last written, be it only a label, by source.
  std::map<std::string, apiserver::storage::Revision> written_at_ KX_GUARDED_BY(mu_);
  /// When its data were last written, as the managed fields tell operators, by source.
  std::map<std::string, std::string> data_written_ KX_GUARDED_BY(mu_);
  std::set<std::string> paused_ KX_GUARDED_BY(mu_);  ///< sources
  /// Namespaces with sources or workloads, and the sources as they are, by key.
  std::set<std::string> spaces_ KX_GUARDED_BY(mu_);
  std::map<std::string, codec::JsonTree> shared_ KX_GUARDED_BY(mu_);
  /// Sources of other namespaces, see IsForeign, that do not allow it, and since when; all are in
  /// paused_, too.
  std::map<std::string, base::TimePoint> hidden_ KX_GUARDED_BY(mu_);
  /// What is known of a source for JudgeRestoreLocked, as digests.
  struct Kept {
    std::string uid{};
    std::string present{};
    std::string mark{};  ///< of the last restore
    std::string good{};  ///< what the last restore put back
    std::set<std::string> had{};
    std::set<std::string> replaced{};  ///< by restores
  };
  std::map<std::string, Kept> kept_ KX_GUARDED_BY(mu_);  ///< by source
  /// The data, with their namespaces, that workloads were rolled for in waves.
  std::set<std::string> rolled_ KX_GUARDED_BY(mu_);
  /// What pods have told of a SecretProviderClass. It is a source as well: its data are the version
  /// that the last change was to, of which any pod has told.
  struct ProviderClass {
    /// What a pod told of first.
    struct Beginning {
      std::string version{};
      base::TimePoint told_since{};  ///< some pod had told of the class all the time since then
    };
    /// Also of pods that are gone, by the pod's status.
    std::map<std::string, Beginning> began{};
    base::TimePoint told_since{};               ///< while `told` is not empty
    std::map<std::string, std::string> told{};  ///< versions, by the pod's status
    /// That version, and all that pods have begun with since.
    std::set<std::string> current{};
    /// When earlier changes replaced what was current before them, by version.
    std::map<std::string, base::TimePoint> replaced{};
    /// Versions that a record may still name: until the next change; see GoneLocked.
    std::set<std::string> may_be_recorded{};
    /// The statuses of pods that have told of the last change, and began with an earlier version.
    std::set<std::string> witnesses{};
    /// What that change replaced, once the last of these is gone soon after it.
    std::set<std::string> untold{};
  };
  /// Deployments that have no pods of their own, and the Rollouts that name them, by key.
  std::map<std::string, codec::JsonTree> bases_ KX_GUARDED_BY(mu_);
  std::map<std::string, codec::JsonTree> referring_ KX_GUARDED_BY(mu_);
  std::map<std::string, ProviderClass> classes_ KX_GUARDED_BY(mu_);  ///< by source
  std::set<std::string> jobs_ KX_GUARDED_BY(mu_);
  std::map<std::string, ObservedWorkload> workloads_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::deque<Former>> formers_ KX_GUARDED_BY(mu_);  ///< by workload
  std::map<std::string, std::string> holders_ KX_GUARDED_BY(mu_);         ///< by Lease
  apiserver::storage::Revision restored_ KX_GUARDED_BY(mu_) = 0;          ///< up to this one
  bool is_restored_ KX_GUARDED_BY(mu_) = false;                           ///< what is applied
  std::optional<std::string> wrong_ KX_GUARDED_BY(mu_);
  std::optional<std::string> too_many_ KX_GUARDED_BY(mu_);
  std::optional<std::string> lost_sight_ KX_GUARDED_BY(mu_);  ///< why it cannot judge any more
  bool strict_ KX_GUARDED_BY(mu_) = false;
  bool limited_ KX_GUARDED_BY(mu_) = false;
  bool watched_ KX_GUARDED_BY(mu_) = false;
  Waves waves_ KX_GUARDED_BY(mu_);
  base::TimePoint oldest_operator_ KX_GUARDED_BY(mu_){};
  std::optional<base::TimePoint> rollouts_served_ KX_GUARDED_BY(mu_);  ///< since when
  base::TimePoint led_since_ KX_GUARDED_BY(mu_){};  ///< when a Lease last got another holder
  apiserver::storage::Revision seen_ KX_GUARDED_BY(mu_);
  apiserver::storage::Revision applied_ KX_GUARDED_BY(mu_) = 0;  ///< of what is applied
  Counts counts_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_ORACLE_H_
