#include "kubexx/apiserver/controllers/rollout.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <variant>

namespace kubexx::apiserver::controllers {
namespace {

std::int32_t TotalOf(const RolloutState& state) {
  return std::accumulate(
      state.old.begin(), state.old.end(), state.current.replicas,
      [](std::int32_t sum, const ReplicaCount& set) { return sum + set.replicas; });
}

RolloutStep Unchanged(const RolloutState& state) {
  RolloutStep step{.current = state.current.replicas};
  for (const ReplicaCount& set : state.old) {
    step.old.push_back(set.replicas);
  }
  return step;
}

/// Takes up to `budget` from the old sets, oldest first: of each what `may_go` says.
template <class F>
std::int32_t Shrink(RolloutStep& step, std::int32_t budget, F may_go) {
  std::int32_t taken = 0;
  for (std::size_t i = 0; i < step.old.size(); ++i) {
    const std::int32_t part = std::clamp(may_go(i), 0, budget - taken);
    step.old[i] -= part;
    taken += part;
  }
  return taken;
}

}  // namespace

std::int32_t Resolve(const apimachinery::IntOrString& value, std::int32_t total, bool round_up) {
  if (const auto* const number = std::get_if<std::int32_t>(&value.value)) {
    return std::max(0, *number);
  }
  const std::string& text = std::get<std::string>(value.value);
  std::int32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end == text.data() || *end != '%' || percent < 0) {
    return 0;
  }
  const std::int64_t hundredths = std::int64_t{percent} * total;
  return static_cast<std::int32_t>(std::min<std::int64_t>(
      (hundredths + (round_up ? 99 : 0)) / 100, std::numeric_limits<std::int32_t>::max()));
}

RolloutLimits LimitsOf(const api::apps::v1::Deployment& deployment) {
  const auto& strategy = deployment.spec.strategy;
  if (strategy.type == "Recreate") {
    return {};
  }
  const apimachinery::IntOrString quarter(std::string("25%"));
  apimachinery::IntOrString surge = quarter;
  apimachinery::IntOrString unavailable = quarter;
  if (strategy.rolling_update) {
    surge = strategy.rolling_update->max_surge.value_or(quarter);
    unavailable = strategy.rolling_update->max_unavailable.value_or(quarter);
  }
  const std::int32_t wanted = deployment.spec.replicas.value_or(1);
  RolloutLimits limits{.surge = Resolve(surge, wanted, true),
                       .unavailable = std::min(wanted, Resolve(unavailable, wanted, false))};
  if (limits.surge == 0 && limits.unavailable == 0) {
    limits.unavailable = 1;
  }
  return limits;
}

RolloutStep NextRollingStep(const RolloutState& state) {
  RolloutStep step = Unchanged(state);
  const auto room = static_cast<std::int32_t>(
      std::min<std::int64_t>(std::int64_t{state.wanted} + state.limits.surge - TotalOf(state),
                             std::numeric_limits<std::int32_t>::max()));
  if (step.current > state.wanted) {
    step.current = state.wanted;
  } else if (room > 0) {
    step.current += std::min(room, state.wanted - step.current);
  }

  const std::int32_t total = TotalOf(state) + step.current - state.current.replicas;
  const std::int32_t must_serve = state.wanted - state.limits.unavailable;
  const std::int32_t not_yet = std::max(0, step.current - state.current.available);
  const std::int32_t budget = total - must_serve - not_yet;
  if (budget <= 0) {
    return step;
  }
  // Pods that do not serve can go without harm.
  const std::int32_t taken = Shrink(step, budget, [&](std::size_t i) {
    return state.old[i].replicas - std::min(state.old[i].replicas, state.old[i].available);
  });
  std::int32_t available = std::min(step.current, state.current.available);
  for (std::size_t i = 0; i < step.old.size(); ++i) {
    available += std::min(step.old[i], state.old[i].available);
  }
  const std::int32_t spare = std::min(available - must_serve, budget - taken);
  if (spare > 0) {
    Shrink(step, spare, [&](std::size_t i) { return step.old[i]; });
  }
  return step;
}

RolloutStep NextScalingStep(const RolloutState& state, std::int32_t old_total) {
  RolloutStep step = Unchanged(state);
  std::vector<std::int32_t*> active;
  if (step.current > 0) {
    active.push_back(&step.current);
  }
  for (std::int32_t& old : step.old) {
    if (old > 0) {
      active.push_back(&old);
    }
  }
  if (active.size() <= 1) {
    *(active.empty() ? &step.current : active.front()) = state.wanted;
    return step;
  }
  const std::int32_t target = state.wanted > 0 ? state.wanted + state.limits.surge : 0;
  std::int32_t rest = target - TotalOf(state);
  // The largest set takes what rounding leaves over.
  std::ranges::stable_sort(active,
                           [](const std::int32_t* a, const std::int32_t* b) { return *a > *b; });
  for (std::int32_t* const set : active) {
    const std::int64_t share = std::int64_t{*set} * target / std::max(1, old_total) - *set;
    const auto part =
        static_cast<std::int32_t>(rest > 0 ? std::clamp<std::int64_t>(share, 0, rest)
                                           : std::clamp<std::int64_t>(share, rest, 0));
    *set += part;
    rest -= part;
  }
  *active.front() = std::max(0, *active.front() + rest);
  return step;
}

}  // namespace kubexx::apiserver::controllers
