/// @file
/// Whether a workload rolls when a source changes.
#ifndef KUBEXX_RELOADER_PLAN_DECISION_H_
#define KUBEXX_RELOADER_PLAN_DECISION_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/pattern_cache.h"

namespace kubexx::reloader {

/// The rule that decided.
enum class Verdict : std::uint8_t {
  kIgnored,   ///< no: the source carries the ignore annotation
  kExcluded,  ///< no: the workload's exclude list names the source
  kExplicit,  ///< yes: an item of the reload list matches; needs no reference
  kSearch,    ///< yes, if referenced: search on the workload, match on the source
  kAuto,      ///< yes, if referenced: auto, or auto for the type
  kAutoAll,   ///< yes, if referenced: --auto-reload-all
  kNoRule,    ///< no: nothing applies
};

std::string_view ToString(Verdict verdict);

constexpr bool Reloads(Verdict verdict) {
  return verdict == Verdict::kExplicit || verdict == Verdict::kSearch ||
         verdict == Verdict::kAuto || verdict == Verdict::kAutoAll;
}

/// An item of a reload list that is not a regular expression, or an annotation with a value that
/// cannot be meant.
struct BadItem {
  std::string item{};
  std::string error{};
  bool is_value = false;  ///< `item` is the annotation with its value
  bool operator==(const BadItem&) const = default;
};

/// What all decisions of a process share.
struct DecisionRules {
  AnnotationKeys keys{};
  bool auto_reload_all = false;
  /// A source that appears rolls the workloads that were waiting for it.
  bool reload_on_create = false;
  /// A source that is deleted rolls the workloads that used it.
  bool reload_on_delete = false;
  /// The strategy is env-vars: what variables say counts, and a deletion rolls only workloads that
  /// have the source's variable, since there is nothing else to take away. Otherwise the strategy
  /// is annotations, and last-reloaded-from counts. What the other strategy has left behind rolls
  /// nothing: it is as old as the change of strategy.
  bool by_variables = true;
  /// With reload_on_create: a workload of which nothing is recorded rolls at the start.
  bool sync_after_restart = false;
  /// Sources of these types are not looked at.
  std::set<SourceType> ignored_types{};
};

/// The annotations that count for sources of `type`: the workload's own, or its pod template's when
/// the workload has none of {reload list, search, auto, auto for the type}, whatever their values.
const Annotations& EffectiveAnnotations(const Workload& workload, SourceType type,
                                        const AnnotationKeys& keys);

/// Decides as stakater/Reloader does; the first rule in the order of Verdict that applies wins. Bad
/// items are skipped and appended to `bad_items`. Does not look at references: see ChooseContainer.
/// Pure but for `patterns`; thread-safe.
Verdict Decide(const Source& source, const Workload& workload, const DecisionRules& rules,
               PatternCache& patterns, std::vector<BadItem>& bad_items);

/// Whether an item of the workload's reload list for the type matches the name. Bad items are
/// skipped and appended to `bad_items`.
bool IsListed(const SourceId& source, const Workload& workload, const AnnotationKeys& keys,
              PatternCache& patterns, std::vector<BadItem>& bad_items);

/// The annotations of the workload that say yes or no (auto, search, record-baseline) and have
/// neither for a value, and are not empty; each once.
std::vector<BadItem> BadValues(const Workload& workload, const AnnotationKeys& keys);

/// Whether some source of `type` might roll the workload: false when no key says anything about the
/// type.
bool MayReload(const Workload& workload, SourceType type, const DecisionRules& rules);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_DECISION_H_
