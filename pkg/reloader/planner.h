/// @file
/// What to change on a workload, given the sources as they are now. Pure: no I/O, no threads.
#ifndef KUBEXX_RELOADER_PLANNER_H_
#define KUBEXX_RELOADER_PLANNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/source.h"
#include "kubexx/reloader/workload.h"

namespace kubexx::reloader {

/// What is known of the data that a workload runs with, beyond its variables.
struct PairState {
  enum class Kind : std::uint8_t {
    kObserved,   ///< the data before the first change that was seen
    kConfirmed,  ///< the workload was rolled for `digest`, or its variable said so
    kUncertain,  ///< as kConfirmed, but a later write may or may not have arrived
  } kind = Kind::kObserved;
  Digest digest{};
  bool operator==(const PairState&) const = default;
};

/// The states of one workload's sources; sources without one are not listed.
using PairStates = std::map<SourceId, PairState>;

/// One variable to set.
struct Change {
  std::string container{};
  std::string variable{};
  std::string value{};
  /// The sources that the variable stands for: one, or several whose names give the same variable.
  std::vector<std::pair<SourceId, Digest>> sources{};
  /// Those of them that made the change necessary.
  std::vector<SourceId> causes{};
  bool operator==(const Change&) const = default;
};

/// The outcome of planning.
struct Plan {
  std::vector<Change> changes{};
  /// States that are known to hold now.
  std::vector<std::pair<SourceId, Digest>> confirmed{};
  /// States without a use any more: the source is gone, or no rule applies to it.
  std::vector<SourceId> dropped{};
  /// Changed sources that a rule applies to, but that the workload does not reference or has rolled
  /// for already.
  std::size_t not_updated = 0;
  std::vector<BadItem> bad_items{};
};

/// Where the planner finds sources. Both are called during MakePlan only.
struct SourceLookup {
  /// The source, when it exists.
  base::FunctionRef<std::optional<Source>(const SourceId&)> get;
  /// The names of all sources of a type in the workload's namespace. Called only for a workload
  /// with patterns in its reload list and a variable of that type.
  base::FunctionRef<std::vector<std::string>(SourceType)> names;
};

/// Compares the variables of `workload` with the digests of the sources it reloads for. A variable
/// that is there and differs is changed, unless the pair is kConfirmed at the present digest
/// (someone set the variable back: the data did not change). A variable that is absent is set only
/// when `states` knows a digest and it differs: absence alone says nothing about the data the
/// workload runs with.
///
/// Sources whose names give the same variable in the same container share it: its value then is a
/// digest over all of theirs, so that a change of either is seen and they do not overwrite each
/// other for ever. A value that is the plain digest of one of them, as stakater/Reloader writes it,
/// is accepted until one of them changes.
Plan MakePlan(const Workload& workload, const SourceLookup& sources, const PairStates& states,
              const DecisionRules& rules, PatternCache& patterns);

/// Items of a workload's reload list that are plain names, and whether there are others (patterns).
struct ReloadList {
  std::vector<std::string> names{};
  bool has_patterns = false;
};
ReloadList ReloadListOf(const Workload& workload, SourceType type, const AnnotationKeys& keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLANNER_H_
