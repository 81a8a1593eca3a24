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

// The sum has 64 bits, because several sets may each have as many pods as fit into 32 bits.
std::int64_t TotalOf(const RolloutState& state) {
  return std::accumulate(
      state.old.begin(), state.old.end(), std::int64_t{state.current.replicas},
      [](std::int64_t sum, const ReplicaCount& set) { return sum + set.replicas; });
}

RolloutStep Unchanged(const RolloutState& state) {
  RolloutStep step{.current = state.current.replicas};
  for (const ReplicaCount& set : state.old) {
    step.old.push_back(set.replicas);
  }
  return step;
}

/// Takes up to `budget` pods from the old sets, the oldest set first, and at most `may_go` from
/// each.
template <class F>
std::int64_t Shrink(RolloutStep& step, std::int64_t budget, F may_go) {
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < step.old.size(); ++i) {
    const std::int64_t part = std::clamp<std::int64_t>(may_go(i), 0, budget - taken);
    step.old[i] -= static_cast<std::int32_t>(part);
    taken += part;
  }
  return taken;
}

/// Returns `total` in the proportion of `part` to `whole`, rounded to the nearest number. No
/// argument is negative; `part` has at most 31 bits and `total` at most 32.
std::int64_t ShareOf(std::int64_t total, std::int64_t part, std::int64_t whole) {
  const std::int64_t rest = part * total % whole;
  return part * total / whole + (rest >= whole - rest ? 1 : 0);
}

std::int32_t BoundedReplicas(std::int64_t replicas) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(replicas, 0, std::numeric_limits<std::int32_t>::max()));
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
  return BoundedReplicas((hundredths + (round_up ? 99 : 0)) / 100);
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
  const std::int64_t wanted = state.wanted;
  const std::int64_t room = wanted + state.limits.surge - TotalOf(state);
  if (step.current > state.wanted) {
    step.current = state.wanted;
  } else if (room > 0) {
    step.current += static_cast<std::int32_t>(std::min(room, wanted - step.current));
  }

  const std::int64_t total = TotalOf(state) + step.current - state.current.replicas;
  const std::int64_t must_serve = wanted - state.limits.unavailable;
  const std::int64_t not_yet = std::max(0, step.current - state.current.available);
  const std::int64_t budget = total - must_serve - not_yet;
  if (budget <= 0) {
    return step;
  }
  // Pods that are not available can be removed without harm.
  const std::int64_t taken = Shrink(step, budget, [&](std::size_t i) {
    return state.old[i].replicas - std::min(state.old[i].replicas, state.old[i].available);
  });
  std::int64_t available = std::min(step.current, state.current.available);
  for (std::size_t i = 0; i < step.old.size(); ++i) {
    available += std::min(step.old[i], state.old[i].available);
  }
  const std::int64_t spare = std::min(available - must_serve, budget - taken);
  if (spare > 0) {
    Shrink(step, spare, [&](std::size_t i) { return step.old[i]; });
  }
  return step;
}

RolloutStep NextScalingStep(const RolloutState& state, std::int64_t old_total) {
  RolloutStep step = Unchanged(state);
  std::vector<std::int32_t*> active;  // oldest first
  for (std::int32_t& old : step.old) {
    if (old > 0) {
      active.push_back(&old);
    }
  }
  if (step.current > 0) {
    active.push_back(&step.current);
  }
  if (active.empty()) {
    active.push_back(state.has_current || step.old.empty() ? &step.current : &step.old.back());
  }
  if (active.size() == 1) {
    *active.front() = state.wanted;
    return step;
  }
  const std::int64_t target =
      state.wanted > 0 ? std::int64_t{state.wanted} + state.limits.surge : 0;
  std::int64_t rest = target - TotalOf(state);
  // Of sets of the same size, the newer one grows first and the older one shrinks first.
  if (rest > 0) {
    std::ranges::reverse(active);
  }
  // The largest set gets what the rounding leaves.
  std::ranges::stable_sort(active,
                           [](const std::int32_t* a, const std::int32_t* b) { return *a > *b; });
  for (std::int32_t* const set : active) {
    const std::int64_t share = ShareOf(target, *set, std::max<std::int64_t>(1, old_total)) - *set;
    const std::int64_t part = rest > 0 ? std::clamp<std::int64_t>(share, 0, rest)
                                       : std::clamp<std::int64_t>(share, rest, 0);
    *set = BoundedReplicas(*set + part);
    rest -= part;
  }
  *active.front() = BoundedReplicas(*active.front() + rest);
  return step;
}

}  // namespace kubexx::apiserver::controllers
