/// @file
/// What to change on a workload, given the sources as they are now. Pure: no I/O, no threads.
#ifndef KUBEXX_RELOADER_PLAN_PLANNER_H_
#define KUBEXX_RELOADER_PLAN_PLANNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {

/// What is known of the data that a workload runs with, beyond what is written on it.
struct PairState {
  enum class Kind : std::uint8_t {
    kObserved,   ///< the data before the first change that was seen
    kConfirmed,  ///< the workload runs with `digest`: it was rolled for it, or had it at first
                 ///< sight
    kUncertain,  ///< as kConfirmed, but a later write may or may not have arrived
  } kind = Kind::kObserved;
  Digest digest{};  ///< kNoSource: there was no such source
  /// The list of keys that `digest` is over; empty: all.
  std::string keys{};
  /// With kConfirmed: the baseline on the workload may say something older, which has not been
  /// written anew yet. Otherwise a baseline that says something else is newer: another replica has
  /// written it.
  bool is_ahead_of_record = false;
  /// With kConfirmed: nothing was known of the pair, so that the data which the source had at this
  /// resource version passed for what the workload runs with; 0: something was known. That of an
  /// earlier change which is told of later shows what it did run with.
  std::uint64_t taken_at = 0;
  bool operator==(const PairState&) const = default;
};

/// The states of one workload's sources; sources without one are not listed.
using PairStates = std::map<SourceId, PairState>;

/// A source's data were changed to these, by a write of this resource version or an earlier one.
struct Move {
  Digest digest{};
  std::uint64_t version = 0;
  bool operator==(const Move&) const = default;
};

/// What the process knows of one workload.
struct Knowledge {
  PairStates pairs{};
  /// It was there before the process and has not been planned yet.
  bool is_unplanned = false;
  /// Its pod template was last changed, or it was made, at this resource version or later; 0: not
  /// known. Pods of that template began after everything that was written before.
  std::uint64_t template_since = 0;
  /// How often its template has changed, as far as is known.
  std::uint64_t templates = 0;
  /// How often others have recorded something else, as far as is known.
  std::uint64_t records = 0;
  /// Hash of the TemplateVersion that an event told of last; 0: none has, or the template is
  /// another workload's.
  std::size_t told_template = 0;
  std::uint32_t looks = 0;  ///< for the event of another one, in a row
  /// The latest changes of sources that no plan has seen, in order; a few of each at most.
  std::map<SourceId, std::vector<Move>> moves{};
  /// A template from before, and what its pods had begun with, while no rollout has ended since
  /// then: who goes back to it finds some of these pods alive.
  struct Former {
    std::string template_digest{};
    PairStates pairs{};   ///< with `is_own`: of the sources that the rollout was for
    bool is_own = false;  ///< the template after it is a rollout of the operator
    bool operator==(const Former&) const = default;
  };
  /// In order, the one before the present template last.
  std::vector<Former> formers{};
  /// There may be others: a rollout had not ended when the process began.
  bool has_unknown_formers = false;
  /// What the pods had, before the last write of a rollout, of the sources that it is for; until
  /// its event comes.
  PairStates rolled_from{};
  /// The time in which this replica writes without a break that this was last used in.
  std::uint64_t tenure = 0;
  /// Hash of the last baseline that was seen on it, or written; 0: none was.
  std::uint64_t record = 0;
  /// The resource version with which it was seen first, or that the last write of this process gave
  /// the workload; 0: not known, or none.
  std::uint64_t told_at = 0;
  /// The resource version that it had when that baseline, which somebody else wrote, was first
  /// seen; 0: not known, or the process wrote it.
  std::uint64_t record_at = 0;
  bool operator==(const Knowledge&) const = default;
};

/// One variable to set or to remove.
struct Change {
  std::string container{};
  std::string variable{};
  std::string value{};  ///< empty when `remove`
  /// The sources that the variable stands for: one, or several whose names give the same variable.
  /// One that was deleted has kNoSource.
  std::vector<std::pair<SourceId, Digest>> sources{};
  /// Those of them that made the change necessary.
  std::vector<SourceId> causes{};
  /// Of those of the sources that count by some of their keys only: by which.
  std::map<SourceId, std::string> keys{};
  /// The source was deleted: take the variable away.
  bool remove = false;
  bool operator==(const Change&) const = default;
};

/// The outcome of planning.
struct Plan {
  std::vector<Change> changes{};
  /// What the workload runs with until `changes` are written; see BaselineAfter.
  Baseline baseline{};
  /// `baseline` says more than the workload's annotation.
  bool record = false;
  /// States that are known to hold now, of the template of Knowledge::templates and the record of
  /// Knowledge::records.
  std::vector<std::pair<SourceId, PairState>> learnt{};
  std::uint64_t templates = 0;
  std::uint64_t records = 0;
  /// Changes that it took into account.
  std::map<SourceId, std::vector<Move>> seen{};
  /// `baseline` says something else of a source than the workload's annotation, which is there, or
  /// has one that the workload references or names and that the annotation has not: a process that
  /// began now would take the present data of that for what the workload runs with.
  bool is_news = false;
  /// Sources that the plan contradicts the baseline about, with the digests of all their data as
  /// it took them, which may be older than those that the baseline tells of: somebody else wrote it
  /// (Knowledge::record_at), and may have seen them later than this process. To be compared with
  /// the API server's before anything is written.
  std::map<SourceId, Digest> doubtful{};
  /// States without a use any more: no rule applies to the pair.
  std::vector<SourceId> dropped{};
  /// Changed sources that a rule applies to, but that the workload does not reference or has rolled
  /// for already.
  std::size_t not_updated = 0;
  std::vector<BadItem> bad_items{};
  /// Sources that `baseline` has no room for, so that the process alone knows what the workload has
  /// of them: a change made while none runs is missed, or seen by the variable alone.
  std::vector<SourceId> left_out{};
};

/// Whether `plan` is to roll for `source`.
bool IsDue(const Plan& plan, const SourceId& source);

/// Digests of the present data of sources over other keys than those that count now.
class DigestsOver {
 public:
  virtual ~DigestsOver() = default;
  /// Over a list of keys, or over all when it is empty; nothing when it cannot be told.
  virtual std::optional<Digest> Over(const SourceId& source, std::string_view keys) = 0;
  /// When the source was last written, to the second; nothing when it cannot be told.
  virtual std::optional<apimachinery::Time> WrittenAt(const SourceId& source) = 0;
};

/// Where the planner finds sources. All are called during MakePlan only.
struct SourceLookup {
  /// The source, when it exists or is Source::unknown.
  base::FunctionRef<std::optional<Source>(const SourceId&)> get;
  /// The names of all sources of a type in the workload's namespace. Called only for a workload
  /// with patterns in its reload list for that type.
  base::FunctionRef<std::vector<std::string>(SourceType)> names;
  /// Asked when something is known of a source over other keys than those that count, and about
  /// workloads whose baseline somebody else has written; null: nothing can be told.
  DigestsOver* over = nullptr;
};

/// Compares what `workload` runs with and the sources it reloads for. What it runs with is, in this
/// order: the present data, when its pod template is known to be younger than they are (one release
/// changed both; or somebody undid a rollout); what the process knows for certain, the baseline on
/// the workload, what the process has observed, the workload's variables. What a variable says is
/// never stronger than the first three: undoing a rollout brings the variable back, but not the
/// data.
///
/// A baseline that somebody else has written (Workload::baseline_restored) was true of pods that
/// are gone. A source that was last written before that is what the new pods have; one written
/// since then rolls.
///
/// Where none of them says anything the workload is seen for
/// the first time: the present digest becomes its baseline and nothing rolls, unless
/// `sync_after_restart` with `reload_on_create` asks for that.
///
/// A source that appears where there was known to be none rolls with `reload_on_create` only, one
/// that is gone with `reload_on_delete` only. Without them a deleted source leaves the baseline as
/// it is, so that one made anew with other data is a change.
///
/// Sources whose names give the same variable in the same container share it: its value then is a
/// digest over all of theirs, so that a change of either is seen and they do not overwrite each
/// other for ever. A value that is the plain digest of one of them, as stakater/Reloader writes it,
/// is accepted until one of them changes.
///
/// What is known of a source over another list of keys than the one that counts now is compared
/// over that list: if nothing has changed there the workload runs with the present data, so that a
/// list that changes rolls nothing by itself.
///
/// Of a SecretProviderClass see ProviderClasses; one that no pod reports is left as it is, and so
/// is what is recorded of a source that is unknown.
Plan MakePlan(const Workload& workload, const SourceLookup& sources, const Knowledge& known,
              const DecisionRules& rules, PatternCache& patterns);

/// The text of the annotation kBaselineAnnotation to send along with `written`, some or all of the
/// plan's changes. Empty when nothing can be recorded: the workload's UID is not known.
std::string BaselineAfter(const Plan& plan, const std::vector<Change>& written);

/// Items of a workload's reload list that are plain names, and whether there are others (patterns).
struct ReloadList {
  std::vector<std::string> names{};
  bool has_patterns = false;
};
ReloadList ReloadListOf(const Workload& workload, SourceType type, const AnnotationKeys& keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PLANNER_H_
