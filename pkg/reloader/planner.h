/// @file
/// What to change on a workload, given the sources as they are now. Pure: no I/O, no threads.
#ifndef KUBEXX_RELOADER_PLANNER_H_
#define KUBEXX_RELOADER_PLANNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/baseline.h"
#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/source.h"
#include "kubexx/reloader/workload.h"

namespace kubexx::reloader {

/// What is known of the data that a workload runs with, beyond what is written on it.
struct PairState {
  enum class Kind : std::uint8_t {
    kObserved,   ///< the data before the first change that was seen
    kConfirmed,  ///< the workload runs with `digest`: it was rolled for it, or had it at first
                 ///< sight
    kUncertain,  ///< as kConfirmed, but a later write may or may not have arrived
    kUnruled,  ///< no rule asked for the source for a while: what is recorded of it is out of date
  } kind = Kind::kObserved;
  Digest digest{};  ///< kNoSource: there was no such source
  /// The list of keys that `digest` is over; empty: all.
  std::string keys{};
  bool operator==(const PairState&) const = default;
};

/// The states of one workload's sources; sources without one are not listed.
using PairStates = std::map<SourceId, PairState>;

/// What the process knows of one workload.
struct Knowledge {
  PairStates pairs{};
  /// It was there before the process and has not been planned yet.
  bool is_new = false;
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
  /// States that are known to hold now.
  std::vector<std::pair<SourceId, PairState>> learnt{};
  /// States without a use any more: no rule applies to the pair.
  std::vector<SourceId> dropped{};
  /// Changed sources that a rule applies to, but that the workload does not reference or has rolled
  /// for already.
  std::size_t not_updated = 0;
  std::vector<BadItem> bad_items{};
};

/// Digests of the present data of sources over other keys than those that count now.
class DigestsOver {
 public:
  virtual ~DigestsOver() = default;
  /// Over a list of keys, or over all when it is empty; nothing when it cannot be told.
  virtual std::optional<Digest> Over(const SourceId& source, std::string_view keys) = 0;
};

/// Where the planner finds sources. All are called during MakePlan only.
struct SourceLookup {
  /// The source, when it exists.
  base::FunctionRef<std::optional<Source>(const SourceId&)> get;
  /// The names of all sources of a type in the workload's namespace. Called only for a workload
  /// with patterns in its reload list for that type.
  base::FunctionRef<std::vector<std::string>(SourceType)> names;
  /// Asked when something is known of a source over other keys than those that count; null: nothing
  /// can be told.
  DigestsOver* over = nullptr;
};

/// Compares what `workload` runs with and the sources it reloads for. What it runs with is, in this
/// order: what the process knows for certain, the baseline on the workload, what the process has
/// observed, the workload's variables. Where none of them says anything the workload is seen for
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
/// Of a SecretProviderClass see ProviderClasses; one that no pod reports is left as it is.
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

#endif  // KUBEXX_RELOADER_PLANNER_H_
