/// @file
/// Decides what to change on a workload, given the present sources. Pure: no I/O, no threads.
#ifndef KUBEXX_RELOADER_PLAN_PLANNER_H_
#define KUBEXX_RELOADER_PLAN_PLANNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {

/// What the process knows of the data that a workload runs with, for one source, beyond what is
/// written on the workload.
struct PairState {
  enum class Kind : std::uint8_t {
    kObserved,  ///< `digest` is of the data before the first change that was seen
    /// The workload runs with `digest`: it was rolled for it, or had it when first seen.
    kConfirmed,
    kUncertain,  ///< as kConfirmed, but a later write may or may not have been made
  } kind = Kind::kObserved;
  Digest digest{};  ///< kNoSource: the source did not exist
  /// The list of keys that `digest` covers; empty: all.
  std::string keys{};
  /// With a digest of all data, those data's prints. They tell a plan for which only some keys
  /// count whether these keys have other values now.
  KeyPrints prints{};
  /// With kConfirmed: the baseline on the workload may still be older than `digest`, or the API
  /// server was asked whether `digest` is of the present data (Plan::doubtful). If false, a
  /// baseline that differs from `digest` is newer: another replica has written it.
  bool is_ahead_of_record = false;
  /// With kConfirmed: the resource version of the source from whose data `digest` was taken because
  /// nothing was known of the pair; 0: something was known. If an earlier change is reported later,
  /// that change shows what the workload really ran with.
  std::uint64_t taken_at = 0;
  /// The resource version of the last change of the source, under the keys that count, that a plan
  /// has seen; 0: none. Pods of a template from before it, of which an event tells later, began
  /// with other data.
  std::uint64_t moved_at = 0;
  bool operator==(const PairState&) const = default;
};

/// The states of one workload's sources. Sources of which nothing is known are not listed.
using PairStates = std::map<SourceId, PairState>;

/// A source's data changed to `digest`, by a write with this resource version or an earlier one.
struct Move {
  Digest digest{};  ///< of all data
  std::uint64_t version = 0;
  KeyPrints prints{};  ///< of all data
  /// Of all data before the change.
  KeyPrints prints_before{};
  bool operator==(const Move&) const = default;
};

/// The writes of a source after version `from`, up to `to`. This process knows what they led to,
/// and not what the data were in between: a list told of it, or the events were merged.
struct UnseenWrites {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const UnseenWrites&) const = default;
};

/// A rollout that was sent, of which it is not known whether it was made. Where the baseline is
/// written together with the pod template, it tells; otherwise the template does.
struct Attempt {
  /// The value that this write alone gives kRestartedFor or kLastReloadedFrom; empty: it sets
  /// neither.
  std::string mark{};
  /// The template had the right variables or annotation before the write, so they do not tell.
  bool is_in_place = false;
  std::map<SourceId, Digest> sources{};  ///< what it is for
  bool operator==(const Attempt&) const = default;
};

/// What the process knows of one workload.
struct Knowledge {
  PairStates pairs{};
  /// The workload existed before the process started, and has not been planned yet.
  bool is_unplanned = false;
  /// The pod template was last changed, the workload created, or the last Job of a CronJob created
  /// for a change, at this resource version or later; 0: not known. Pods of the present template
  /// started after everything that was written before this version.
  std::uint64_t template_since = 0;
  /// And at this version or earlier; 0: not known.
  std::uint64_t template_until = 0;
  /// From the first to the last such writes of each source that may matter: pods may have begun
  /// during them.
  std::map<SourceId, UnseenWrites> unseen_writes{};
  /// The template was written while the workload was paused (Workload::paused): its pods begin when
  /// the workload is resumed, with the data of then.
  bool begins_on_resume = false;
  /// Pods begin one after the other, as the last event of the workload tells.
  bool pods_begin = false;
  /// And there were to be more of them, without an event since then that says that none begin.
  bool pods_added = false;
  /// The data for which plans were to roll the workload, where something held the rollout, or its
  /// write failed: see PairMemory::LeaveDue.
  std::map<SourceId, Digest> left_due{};
  /// Of these, the sources of which pods began with such data beside others that have what `pairs`
  /// says, as far as events tell. Until all pods are made anew.
  std::set<SourceId> mixed{};
  /// How often the template has changed, as far as this process knows.
  std::uint64_t templates = 0;
  /// How often other replicas have recorded a different baseline, as far as this process knows.
  std::uint64_t records = 0;
  /// The latest changes of sources that no plan has seen yet, in order; a few per source at most.
  std::map<SourceId, std::vector<Move>> moves{};
  /// An earlier template, and the data that its pods had started with. It is kept until a rollout
  /// has ended: until then, whoever goes back to this template finds some of these pods still
  /// running.
  struct Former {
    std::string template_digest{};
    PairStates pairs{};   ///< with `is_own`: only of the sources that the rollout was for
    bool is_own = false;  ///< the template after this one is a rollout of the operator
    bool operator==(const Former&) const = default;
  };
  /// The earlier templates in order; the last one is the predecessor of the present template.
  std::vector<Former> formers{};
  /// There may be further earlier templates: a rollout had not ended when the process started.
  bool has_unknown_formers = false;
  /// The data that the pods had before the last rollout was written, for the sources that it is
  /// for. Kept until the event of that rollout comes.
  PairStates rolled_from{};
  /// The stamps that another replica has set, maybe among other changes, as the last news of the
  /// template tell; see StampsOfRollouts.
  std::set<std::string> stamps_of_others{};
  /// Writes whose outcome is not known, in order; a few at most. They count for sources of which
  /// nothing is known for certain.
  std::vector<Attempt> attempts{};
  /// Only for a plan of a workload as it was just read: the stamps that another replica has set by
  /// one rollout of which no event has told yet (see StampsOfOneRollout). Not remembered: the event
  /// tells of it, and `formers` need what the pods had before.
  std::set<std::string> untold_stamps{};
  /// Likewise: the stamps that another replica has set since the cache's version, maybe among other
  /// changes; see StampsOfRollouts.
  std::set<std::string> untold_stamps_of_others{};
  /// Likewise: the workload has another template than the cache, of which no event has told yet.
  bool has_untold_template = false;
  /// Likewise: the workload has the template of a Deployment that was written since the cache's
  /// version of it. The template may name the versions of sources for which another replica wrote
  /// it, and no event may have told of it yet.
  bool has_later_deployment = false;
  /// The tenure (see FreshReads) in which this knowledge was last used.
  std::uint64_t tenure = 0;
  /// Hash of the last baseline that was seen on the workload or written to it; 0: there was none.
  std::uint64_t record = 0;
  /// The resource version with which the workload was first seen, or that the last write of this
  /// process returned; 0: not known, or neither has happened.
  std::uint64_t told_at = 0;
  /// The workload's resource version when that baseline, written by somebody else, was first seen;
  /// 0: not known, or this process wrote it or took it away. Kept when somebody else takes it away,
  /// and when this process wrote a baseline in which a part is copied.
  std::uint64_t record_at = 0;
  /// That baseline was written at this resource version or later; 0: not known, or as for
  /// record_at.
  std::uint64_t record_since = 0;
  /// Plan::is_released of the last plan.
  bool is_released = false;
  bool operator==(const Knowledge&) const = default;
};

/// An environment variable to set or to remove.
struct Change {
  std::string container{};
  std::string variable{};
  std::string value{};  ///< empty with `remove`
  /// The sources that the variable represents: one, or several whose names give the same variable.
  /// A deleted source has kNoSource.
  std::vector<std::pair<SourceId, Digest>> sources{};
  /// Those of the sources that made the change necessary.
  std::vector<SourceId> causes{};
  /// For each of the sources of which only some keys count: the list of these keys.
  std::map<SourceId, std::string> keys{};
  /// Only for a workload whose template is a Deployment's: the resource versions of those of the
  /// sources that exist, as the plan saw them.
  std::map<SourceId, std::uint64_t> versions{};
  /// The source was deleted: the variable is to be removed.
  bool remove = false;
  bool operator==(const Change&) const = default;
};

/// The result of planning.
struct Plan {
  std::vector<Change> changes{};
  /// The data that the workload runs with until `changes` are written; see BaselineAfter.
  Baseline baseline{};
  /// `baseline` contains more than the workload's annotation does.
  bool record = false;
  /// States that the plan has established. They hold for the template counted by
  /// Knowledge::templates and the record counted by Knowledge::records, which the next two members
  /// repeat.
  std::vector<std::pair<SourceId, PairState>> learnt{};
  std::uint64_t templates = 0;
  std::uint64_t records = 0;
  /// The changes that the plan has taken into account, which are none of sources that are unknown.
  std::map<SourceId, std::vector<Move>> seen{};
  /// Entries of Knowledge::unseen_writes that do not matter any more, since the plan has found
  /// whether the pods have what was before and after them.
  std::map<SourceId, UnseenWrites> judged_writes{};
  /// The workload has a baseline annotation, and `baseline` differs from it for some source, or
  /// contains a source that the workload references or names and that the annotation lacks. Without
  /// a new annotation, a process that started now would take the present data of such a source for
  /// what the workload runs with. Likewise where a process that started now would doubt the
  /// annotation (see MakePlan), this one does not, and the new annotation ends that for good
  /// (has_seen_template).
  bool is_news = false;
  /// Somebody else has written the pod template since the baseline was written, or the baseline is
  /// that of a CronJob's rollout. So a process that starts later doubts what the baseline says of
  /// sources that are written from now on, unless the baseline is written anew.
  bool is_released = false;
  /// Only the operator's own rollouts make pods that a baseline could not know of, and there is no
  /// `template_written`: the workload is a CronJob.
  bool is_run_by_jobs = false;
  /// Workload::template_written, for the baseline that is written once nothing is due any more.
  std::optional<apimachinery::Time> template_written{};
  /// Every write of the sources up to that of the pod template, or up to the record of a CronJob's
  /// rollout, has been seen. If false, a source may have had other data while the pods began, of
  /// which news are on the way: a baseline with `template_written` would deny that.
  bool has_seen_template = true;
  /// Some of `changes` do not follow from what this process knows for certain to be the data of the
  /// baseline, so the pods may have other data than these.
  bool has_uncertain_changes = false;
  /// The baseline on the workload is of an older template than the present one, of which this
  /// process knows now that its pods began with the data of `baseline`, whatever waits. To be
  /// written, so that later writes of the sources raise no question.
  bool is_to_be_dated = false;
  /// A baseline that is written now leaves in doubt with which data the pods of the template began,
  /// only because has_seen_template is false. Whoever records baselines has to have another plan
  /// made once the watches have told more, since no event may tell of that.
  bool awaits_watches = false;
  /// The baseline contains sources of which the plan knows nothing newer: they are unknown, or news
  /// of them are on the way.
  bool is_partly_unknown = false;
  /// The resource versions of the sources that exist, as the plan saw them; see Baseline::versions.
  std::map<SourceId, std::uint64_t> versions{};
  /// Sources for which the plan contradicts a baseline that somebody else wrote
  /// (Knowledge::record_at), even if it has been removed since, or, where there was none, the
  /// rollout that the template tells of; with the digests of all their data as this process knows
  /// them. Whoever wrote these may have seen newer data. The sources must be compared with the API
  /// server's data before anything is written.
  std::map<SourceId, Digest> doubtful{};
  /// States that are no longer needed, because no rule applies to the pair.
  std::vector<SourceId> dropped{};
  /// The number of changed sources to which a rule applies, but which the workload does not
  /// reference or has already been rolled for.
  std::size_t not_updated = 0;
  std::vector<BadItem> bad_items{};
  /// Sources for which `baseline` has no room, so that only this process knows what the workload
  /// has of them. If such a source changes while no process runs, the change is missed, or is only
  /// seen by the variable.
  std::vector<SourceId> left_out{};
  /// Why nothing was planned for some of the sources: they could not be read, so whoever carries
  /// out the plan must have another one made later. std::nullopt when there are none. Set by those
  /// who look sources up for the planner.
  std::optional<apimachinery::Status> incomplete{};
};

/// Whether the plan contains a rollout for `source`.
bool IsDue(const Plan& plan, const SourceId& source);

/// Gives digests of the present data of sources over other keys than those that count now.
class DigestsOver {
 public:
  virtual ~DigestsOver() = default;
  /// The digest over a list of keys, or over all keys if the list is empty. Returns std::nullopt
  /// when it cannot be determined.
  virtual std::optional<Digest> Over(const SourceId& source, std::string_view keys) = 0;
  /// When the source was last written, in whole seconds. Returns std::nullopt when it cannot be
  /// determined.
  virtual std::optional<apimachinery::Time> WrittenAt(const SourceId& source) = 0;
  /// The resource version up to which every write of the source has been seen: SourceLookup::get
  /// tells, after this call, of the source at this version or a later one. 0: not known. By default
  /// sources are read at the moment, so that nothing of them is unseen.
  virtual std::uint64_t SeenUpTo(const SourceId& source) {
    (void)source;
    return UINT64_MAX;
  }
  /// Whether a source that SourceLookup::get does not have exists nevertheless, and is only not
  /// watched. Asked for sources in the workload's baseline. By default all are watched.
  virtual bool IsLeftOut(const SourceId& source) {
    (void)source;
    return false;
  }
};

/// The functions through which the planner finds sources. It calls them only during MakePlan.
struct SourceLookup {
  /// Returns the source; std::nullopt when it does not exist. A source that cannot be read has
  /// Source::unknown.
  base::FunctionRef<std::optional<Source>(const SourceId&)> get;
  /// Returns the names of all sources of a type in the workload's namespace. Called only for a
  /// workload whose reload list for that type contains patterns.
  base::FunctionRef<std::vector<std::string>(SourceType)> names;
  /// Called when something is known of a source over other keys than those that count now, for
  /// workloads whose baseline somebody else has written, for those that were released since their
  /// baseline, and when a baseline has a source that does not exist. Null: these questions have no
  /// answer, and nothing is unseen or left out.
  DigestsOver* over = nullptr;
};

/// Compares the data that `workload` runs with and the present data of the sources that it is to be
/// rolled for. The planner takes what the workload runs with from the first of these that tells it:
/// 1. the present data, if the pod template is known to be younger than they are (one release
/// changed both, or somebody undid a rollout);
/// 2. what the process knows for certain;
/// 3. the baseline on the workload;
/// 4. a variable, or the annotation of a rollout, with the present data, unless somebody has
/// brought it back: another replica, or stakater/Reloader, has rolled the workload for them;
/// 5. what the process has observed;
/// 6. the workload's variables. They come last because undoing a rollout brings back an old
/// variable, but not the old data.
///
/// If somebody else has written the baseline (Workload::baseline_restored), it describes pods that
/// are gone. The new pods have the data of every source that was last written before that moment. A
/// source that was written later causes a rollout.
///
/// A baseline that names the present data of a source is not the whole truth when the source was
/// written since the baseline's writer saw it (Baseline::versions), and after somebody else wrote
/// the pod template, which happened after the baseline was written (Baseline::template_written):
/// the data may have been others while the template's pods began, and have come back. A process
/// that knows nothing for certain asks when the data were written (DigestsOver::WrittenAt), and
/// rolls the workload when that was not before the template was written; where the operator has
/// rolled the workload since (Workload::own_written), when that was after it, within ten minutes.
/// The template of a CronJob makes no pods, so there only the operator's own rollouts count. A
/// process that knows with which data the pods began before and after some writes, and not what the
/// data were in between (Knowledge::unseen_writes), asks the same where the pods may have begun
/// then. A process that knows better writes the baseline anew (Plan::record). A person who has
/// undone a rollout since wants the pods as they are, with the data of that moment. Pods that began
/// before the snapshot was taken from which the operator has put the data back (Source::settled)
/// have these data, since all workloads ran with them then.
///
/// If none of them tells anything, the workload is seen for the first time: the present digest
/// becomes its baseline and it is not rolled, except with `sync_after_restart` and
/// `reload_on_create`.
///
/// A source that appears although it was known not to exist causes a rollout only with
/// `reload_on_create`, a source that is gone only with `reload_on_delete`. Without them a deleted
/// source leaves the baseline as it is, so that creating it again with other data is a change.
///
/// Sources whose names give the same variable in the same container share that variable. Its value
/// is then a digest over all their digests: a change of each is seen, and they do not overwrite
/// each other forever. A value that is the plain digest of one of them, as stakater/Reloader writes
/// it, is accepted until one of them changes.
///
/// What is known of a source over another list of keys than the one that counts now is compared
/// over that other list. If nothing has changed there, the workload runs with the present data: a
/// change of the list alone does not cause a rollout.
///
/// A source that has changed once, and whose variable is one of Knowledge::untold_stamps and right
/// (or which kLastReloadedFrom, one of them, names with the present data), needs no rollout, and
/// the plan learns nothing of it. If another source needs a rollout, that is made for both. The
/// same holds for a source whose data were written before somebody undid a rollout, where
/// Knowledge::has_untold_template is set: the pods that began then have them. It also holds for one
/// of Knowledge::untold_stamps_of_others, where the source had not had these data before its last
/// change, and has not been written since: whatever pods began after the rollout have them. And it
/// holds with Knowledge::has_later_deployment for one of which the Deployment's template names the
/// present version.
///
/// For a SecretProviderClass see ProviderClasses. The planner changes nothing for one that no pod
/// reports, and keeps the record of a source that is unknown, or that another operator watches and
/// this one leaves out.
Plan MakePlan(const Workload& workload, const SourceLookup& sources, const Knowledge& known,
              const DecisionRules& rules, PatternCache& patterns);

/// What a write of the operator does to the pods of a workload.
enum class PodsAre : std::uint8_t {
  kReplaced,   ///< new ones begin, as after a rollout
  kKept,       ///< the same ones go on, as with a reload in place
  kOfNextJob,  ///< new ones begin, of another object that takes the workload's place
};

/// The text of kBaselineAnnotation to send together with `written`, which are some or all of the
/// plan's changes. `pods`: what happens to the pods where something is written. Empty when nothing
/// can be recorded because the workload's UID is not known.
std::string BaselineAfter(const Plan& plan, const std::vector<Change>& written,
                          PodsAre pods = PodsAre::kReplaced);

/// The items of a workload's reload list that are plain names, and whether there are patterns
/// besides.
struct ReloadList {
  std::vector<std::string> names{};
  bool has_patterns = false;
};
/// The items of a text such as ReloadTextOf returns.
ReloadList ReloadItemsIn(std::string_view reload_text);
/// The workload's reload list for sources of `type`.
ReloadList ReloadListOf(const Workload& workload, SourceType type, const AnnotationKeys& keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PLANNER_H_
