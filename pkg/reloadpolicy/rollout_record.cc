#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

std::string_view ToString(RolloutState state) {
  switch (state) {
    case RolloutState::kStarted:
      return "started";
    case RolloutState::kRetried:
      return "retried";
    case RolloutState::kStartedBroken:
      return "started-broken";
    case RolloutState::kFailed:
      return "failed";
    case RolloutState::kCompleted:
      return "completed";
    case RolloutState::kLeft:
      break;
  }
  return "left";
}

std::string RecordFor(RolloutState state, std::string_view uid) {
  return std::string(ToString(state)) + " " + std::string(uid);
}

std::optional<RolloutState> RecordOf(const std::map<std::string, std::string>& annotations,
                                     std::string_view uid) {
  const auto found = annotations.find(std::string(kRolloutStateAnnotation));
  if (found == annotations.end()) {
    return std::nullopt;
  }
  for (const RolloutState state :
       {RolloutState::kStarted, RolloutState::kRetried, RolloutState::kStartedBroken,
        RolloutState::kFailed, RolloutState::kCompleted, RolloutState::kLeft}) {
    if (found->second == RecordFor(state, uid)) {
      return state;
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::reloadpolicy
