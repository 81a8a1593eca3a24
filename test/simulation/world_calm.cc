// Calm times of a World, of which clusters have most: leases are renewed, watches end and begin
// anew, and now and then somebody does something.
#include <algorithm>
#include <array>
#include <chrono>

#include "world.h"

namespace kubexx::simulation {
namespace {

/// In seconds, the longest that people do nothing in runs of hours.
constexpr std::int64_t kLongestIdle = 900;
/// The same in runs of days, and for how long what they have done goes unchecked at most.
constexpr std::int64_t kLongestIdleInDays = 4 * 3600;
constexpr std::int64_t kLongestUnchecked = 1800;
/// So many things are done at most before a check.
constexpr std::int64_t kMostActs = 3;
/// Of a thousand requests in half of the days, so many meet each fault: about one an hour does.
constexpr std::uint16_t kRareFaults = 1;
/// How often a server looks at what is due then. A watch is ended so much later at most, which is
/// less than the half minute that clients allow it.
constexpr base::Duration kCalmTick = std::chrono::seconds(20);
constexpr base::Duration kCalmReaping = std::chrono::seconds(60);

}  // namespace

void World::Calm(Nanoseconds until) {
  timeline_.Add("simulation", "a calm time begins");
  while (scheduler_.now() < until && !failed()) {
    SleepFor(random_.Between(1, kLongestIdle) * kSecond);
    const Actor self = scheduler_.Become(people_actor_);
    crowd_->Do({});
    scheduler_.Become(self);
  }
}

void World::DoNowAndThen(Nanoseconds until) {
  const Actor before = scheduler_.Become(people_actor_);
  crowd_->InstallMissing({});  // operators that miss a type ask for it all the time
  scheduler_.Become(before);
  SleepFor(std::min(until - scheduler_.now(), random_.Between(1, kLongestIdleInDays) * kSecond));
  for (std::int64_t left = random_.Between(1, kMostActs); left > 0 && !failed(); --left) {
    const Actor self = scheduler_.Become(people_actor_);
    crowd_->Do({});
    scheduler_.Become(self);
    SleepFor(random_.Between(1, random_.Chance(500) ? 30 : kLongestUnchecked) * kSecond);
  }
}

void World::CalmDays(Nanoseconds until) {
  timeline_.Add("simulation", "calm days begin");
  const Nanoseconds begin = scheduler_.now();
  const std::uint64_t rollouts = oracle_->counts().rollouts;
  const std::array<std::uint64_t, kFaults> faults = network_.faults();
  slow_storage_->SetRate(0);
  server_->SetTick(kCalmTick, kCalmReaping);
  FaultRates rates{};
  if (random_.Chance(500)) {
    oracle_->SetStrict(false);  // operators may know the order of changes no more
    rates.fill(kRareFaults);
  }
  while (scheduler_.now() < until && !failed()) {
    network_.SetRates(rates);
    DoNowAndThen(until);
    if (!failed()) {
      Quiet(result_.calm_checks);
    }
  }
  server_->SetTick(tick_, tick_);
  result_.calm_operator_hours += static_cast<double>(scheduler_.now() - begin) /
                                 static_cast<double>(60 * kMinute) *
                                 static_cast<double>(replicas_.size());
  result_.calm_rollouts += oracle_->counts().rollouts - rollouts;
  const std::array<std::uint64_t, kFaults> more = network_.faults();
  for (std::size_t i = 0; i < kFaults; ++i) {
    result_.calm_faults[i] += more[i] - faults[i];
  }
}

}  // namespace kubexx::simulation
