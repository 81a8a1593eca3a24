/// @file
/// How far the rollout of a custom kind is.
#ifndef KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_
#define KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// Whether the rule holds for the object. A field that is not there counts as a number 0 and as
/// false, which controllers leave out. Two fields that are not there are the same. A condition that
/// tells of an earlier generation of the object (its observedGeneration) does not hold.
bool Holds(const StatusRule& rule, const codec::JsonTree& object);

/// On an object whose status has no observedGeneration, written with each rollout that a policy
/// follows: StatusMark of the object before.
inline constexpr std::string_view kStatusBeforeAnnotation = "reloader.kubexx.io/status-before";

/// What kStatusBeforeAnnotation has to be after a rollout of this object; std::nullopt when the
/// status tells by itself which generation it is of, and when the kind has no rules. Another mark
/// means that somebody has written the status since. It covers the status, and the times at which
/// those wrote it whose managed fields have nothing else, as a status may come back to what it was.
std::optional<std::string> StatusMark(const CustomKind& kind, const codec::JsonTree& object);

/// How far the rollout of an object is, as far as it tells.
struct CustomPhase {
  reloadpolicy::Phase phase = reloadpolicy::Phase::kComplete;
  /// With kUnseen: nothing has changed in the status since the rollout began, and nothing says of
  /// which generation it is. This is the phase if it is of the present one.
  std::optional<reloadpolicy::Phase> presumed{};
  bool operator==(const CustomPhase&) const = default;
};

/// The phase of an object of the kind, which is as the API server has it. kFailed when a rule for
/// that holds; kUpdating while a rule for the end does not. kUnseen while the status may be about
/// an earlier rollout: status.observedGeneration is behind metadata.generation; or, where there is
/// none and the kind has rules, the status is empty, or its mark is that of before a rollout that
/// has not ended yet. Conditions that say themselves that they are of the present generation count
/// in any case, if they alone decide. Never kUnavailable or kPaused.
CustomPhase PhaseOfCustom(const CustomKind& kind, const codec::JsonTree& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_
