/// @file
/// Decides whether a workload is rolled when a source changes.
#ifndef KUBEXX_RELOADER_PLAN_DECISION_H_
#define KUBEXX_RELOADER_PLAN_DECISION_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/pattern_cache.h"

namespace kubexx::reloader {

/// The rule that decided, and its answer.
enum class Verdict : std::uint8_t {
  kIgnored,   ///< no: the source has the ignore annotation
  kExcluded,  ///< no: the workload's exclude list names the source
  /// Yes, even if the workload does not reference it: an item of the reload list matches.
  kExplicit,
  /// Yes, if referenced: the workload has the search annotation, the source the match annotation.
  kSearch,
  /// Yes, if referenced: the workload has the auto annotation, for all types or for this one.
  kAuto,
  kAutoAll,  ///< yes, if referenced: by --auto-reload-all
  kNoRule,   ///< no: no rule applies
};

/// The name of the rule, as logs and `explain` show it.
std::string_view ToString(Verdict verdict);

/// Whether the verdict is a yes.
constexpr bool Reloads(Verdict verdict) {
  return verdict == Verdict::kExplicit || verdict == Verdict::kSearch ||
         verdict == Verdict::kAuto || verdict == Verdict::kAutoAll;
}

/// The settings that all decisions of a process share.
struct DecisionRules {
  AnnotationKeys keys{};
  bool auto_reload_all = false;
  /// When a source is created, the workloads that were waiting for it are rolled.
  bool reload_on_create = false;
  /// When a source is deleted, the workloads that used it are rolled.
  bool reload_on_delete = false;
  /// True: the strategy is env-vars. Then the values of variables count, and a deletion rolls only
  /// workloads that have the source's variable, since there is nothing else to remove. False: the
  /// strategy is annotations, and last-reloaded-from counts. Variables or annotations that the
  /// other strategy has left behind never cause a rollout: they are as old as the change of
  /// strategy.
  bool by_variables = true;
  /// With reload_on_create: a workload for which nothing is recorded is rolled when the process
  /// starts.
  bool sync_after_restart = false;
  /// kReloadInPlace has an effect.
  bool reload_in_place = false;
  /// Sources of these types are ignored.
  std::set<SourceType> ignored_types{};
  /// The described kinds of sources, such as "Certificate". Those of others, which this process
  /// may know as well, are ignored.
  std::vector<std::string> source_kinds{};

  /// Whether sources of the type are ignored.
  bool Ignores(SourceType type) const {
    return ignored_types.contains(type) ||
           (IsDescribed(type) &&
            std::ranges::find(source_kinds, NamesOf(type).kind) == source_kinds.end());
  }
};

/// The annotations that count for sources of `type`: those of the workload itself; or those of its
/// pod template if the workload has none of {reload list, search, auto, auto for the type},
/// whatever their values.
const Annotations& EffectiveAnnotations(const Workload& workload, SourceType type,
                                        const AnnotationKeys& keys);

/// The workload's reload list for sources of `type`; std::nullopt if it has none. That of a
/// described kind is the part of kReloadOn that is about the kind.
std::optional<std::string> ReloadTextOf(const Workload& workload, SourceType type,
                                        const AnnotationKeys& keys);
/// All that the workload has of ReloadTextOf, by type. Reads each annotation once, however many
/// types there are.
std::map<SourceType, std::string> ReloadTextsOf(const Workload& workload,
                                                const AnnotationKeys& keys);

/// Decides as stakater/Reloader does: the rules apply in the order of Verdict, and the first one
/// that matches decides. Does not check whether the workload references the source: see
/// ChooseContainer. `list` is the workload's ReloadTextOf the source's type, compiled, and skips
/// bad items; null: it has none. Pure; thread-safe.
Verdict Decide(const Source& source, const Workload& workload, const DecisionRules& rules,
               const PatternList* list);
/// The same with the list from `patterns`, where it is compiled if need be.
Verdict Decide(const Source& source, const Workload& workload, const DecisionRules& rules,
               PatternCache& patterns);

/// The workload's yes-or-no annotations (auto, search, record-baseline) whose values are neither
/// empty nor a valid yes or no, the items of kReloadOn that name nothing that is known, and those
/// of its annotations whose names are mistyped (see MeantAnnotation). Each is listed once.
std::vector<BadItem> BadValues(const Workload& workload, const DecisionRules& rules);

/// Whether any source of `type` could roll the workload. Returns false when no annotation or flag
/// says anything about that type.
bool MayReload(const Workload& workload, SourceType type, const DecisionRules& rules);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_DECISION_H_
