#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloadpolicy {

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kComplete:
      return "complete";
    case Phase::kUnavailable:
      return "unavailable";
    case Phase::kUpdating:
      return "updating";
    case Phase::kUnseen:
      return "unseen";
    case Phase::kWaiting:
      return "waiting";
    case Phase::kPaused:
      return "paused";
    case Phase::kWithoutPods:
      return "without pods";
    case Phase::kFailed:
      break;
  }
  return "failed";
}

std::optional<Phase> ParsePhase(std::string_view text) {
  for (const Phase phase : {Phase::kComplete, Phase::kUnavailable, Phase::kUpdating, Phase::kFailed,
                            Phase::kUnseen, Phase::kWaiting, Phase::kPaused, Phase::kWithoutPods}) {
    if (ToString(phase) == text) {
      return phase;
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::reloadpolicy
