/// @file
/// Decides whether changes of sources can be carried out without a rollout.
#ifndef KUBEXX_RELOADER_IN_PLACE_IN_PLACE_VERDICT_H_
#define KUBEXX_RELOADER_IN_PLACE_IN_PLACE_VERDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/pattern_list.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// What takes the place of a rollout.
struct InPlaceVerdict {
  /// std::nullopt: the workload is rolled.
  std::optional<ReloadAction> action{};
  /// Why not, although the workload has kReloadInPlace: a clause. Empty when it has not.
  std::string why_not{};
};

/// Judges by what is known of the workload; what only the pods tell, such as a subPath, is found
/// when they are looked at. `records`: a baseline may be recorded on the workload, without which
/// nobody would know what its pods run with. Pure.
InPlaceVerdict JudgeInPlace(const Workload& workload, const std::vector<SourceId>& causes,
                            bool records);

/// The same for all causes of `changes`.
InPlaceVerdict JudgeInPlace(const Workload& workload, const std::vector<Change>& changes,
                            bool records);

/// The annotations for reloads in place, if they are there and cannot be read.
std::optional<BadItem> BadActionOf(const Workload& workload);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_IN_PLACE_VERDICT_H_
