// What comes last in a storm of a World: what people do later would make up for much that operators
// miss, since the pods of the next rollout have everything.
#include <algorithm>
#include <chrono>
#include <string_view>

#include "oracle/pod_template.h"
#include "world.h"

namespace kubexx::simulation {
namespace {

/// How often each clerk counts up.
constexpr int kTimes = 6;
/// Of a thousand writes while they do.
constexpr std::uint64_t kBusyWrites = 500;
/// A baseline may be written a minute later than the rollout.
constexpr std::int64_t kUntilRecorded = 70;
/// In seconds: more than a rollout takes that nothing holds up, and most baselines.
constexpr std::int64_t kUntilSettled = 90;
/// So many workloads are released at most while their data are others.
constexpr int kMostReleases = 3;
/// In seconds: until other replicas have taken over what one led, and longer.
constexpr std::int64_t kShortestAbsence = 5;
constexpr std::int64_t kLongestAbsence = 40;
/// So late is news of workloads when another operator takes them over: it leads by then, and still
/// waits for the news.
constexpr std::chrono::seconds kLateNews{13};
/// Of a thousand writes that are late while shards move, and how many edits there are then.
constexpr std::uint16_t kMostWrites = 700;
constexpr int kEdits = 40;

}  // namespace

void World::CountUp() {
  const Actor self = scheduler_.Become(people_actor_);
  slow_storage_->SetRate(kBusyWrites);
  const auto wrong = ledger_->CountUp(kTimes);
  slow_storage_->SetRate(0);
  scheduler_.Become(self);
  if (wrong) {
    Fail(*wrong);
  }
}

void World::EndStorm() {
  CountUp();
  if (failed()) {
    return;
  }
  switch (random_.Below(15)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return UndoLast();
    case 4:
    case 5:
      return StripLast();
    case 6:
    case 7:
      return EditLast();
    case 8:
      return MoveLast();
    case 9:
    case 10:
    case 11:
    case 12:
      return ReleaseLast();
    case 13:
      return TakeOverLast();
    default:
      return;
  }
}

void World::UndoLast() {
  if (random_.Chance(500)) {
    network_.SetRates({});
    network_.AimAtWrites(Fault::kNone, 0);
  }
  const Actor self = scheduler_.Become(people_actor_);
  const auto workload = crowd_->PrepareUndo({});
  scheduler_.Become(self);
  if (!workload || failed()) {
    return;
  }
  SleepFor(random_.Between(0, kUntilRecorded) * kSecond);
  const bool away = random_.Chance(600) && !IsIn(options_.without.mishaps, Mishap::kAway);
  if (away) {
    oracle_->SetStrict(false);
    ++result_.mishaps[static_cast<std::size_t>(Mishap::kAway)];
    Lasts(Mishap::kAway, kNever);
    EndReplicas();
  }
  scheduler_.Become(people_actor_);
  crowd_->UndoPrepared(*workload, random_.Chance(600), {});
  scheduler_.Become(self);
  if (away) {
    SleepFor(random_.Between(0, 20) * kSecond);
    StartReplicas();
    Lasts(Mishap::kAway, scheduler_.now());
  }
}

void World::StripLast() {
  const bool without_rights =
      random_.Chance(500) && !IsIn(options_.without.mishaps, Mishap::kRights);
  if (without_rights) {
    ++result_.mishaps[static_cast<std::size_t>(Mishap::kRights)];
    oracle_->SetStrict(false);
    Lasts(Mishap::kRights, kNever);
    SetRights(false);
  }
  const Actor self = scheduler_.Become(people_actor_);
  crowd_->StripOne({});
  scheduler_.Become(self);
  if (without_rights) {
    SleepFor(random_.Between(kUntilRecorded, kUntilRecorded * 2) * kSecond);
    SetRights(true);
    Lasts(Mishap::kRights, scheduler_.now());
  }
}

void World::SettleDown() {
  network_.SetRates({});
  network_.AimAtWrites(Fault::kNone, 0);
  SleepFor(random_.Between(kUntilRecorded, kUntilSettled) * kSecond);
}

void World::ReleaseLast() {
  if (random_.Chance(600)) {  // or what is due anyway would hide what is missed
    SettleDown();
  }
  const bool ends = random_.Chance(600) && !IsIn(options_.without.mishaps, Mishap::kAway);
  // Who is told of the workloads only writes no baseline anew.
  const bool is_blind = ends && random_.Chance(350);
  if (ends) {
    oracle_->SetStrict(false);
    ++result_.mishaps[static_cast<std::size_t>(Mishap::kAway)];
    Lasts(Mishap::kAway, kNever);
  }
  if (is_blind) {
    timeline_.Add("operators", "are told of no source any more");
    for (const char* const plural : {"configmaps", "secrets", oracle::kObjectPlural}) {
      network_.StallWatches(plural);
      oracle_->SetWatched(false);
    }
  } else if (ends) {
    EndReplicas();
  }
  const Actor self = scheduler_.Become(people_actor_);
  for (std::int64_t left = random_.Between(1, kMostReleases); left > 0; --left) {
    crowd_->ReleaseInBetween(ends, {});
  }
  scheduler_.Become(self);
  if (is_blind) {
    SleepFor(random_.Between(0, 3000) * 1'000'000);
    EndReplicas();
  }
  if (ends) {
    SleepFor(random_.Between(0, 20) * kSecond);
    StartReplicas();
    Lasts(Mishap::kAway, scheduler_.now());
  }
}

void World::EditLast() {
  const Actor self = scheduler_.Become(people_actor_);
  crowd_->EditSome({});
  scheduler_.Become(self);
  SleepFor(random_.Between(0, 1000) * 1'000'000);
  oracle_->SetStrict(false);
  Do(Mishap::kOperatorKill);
}

void World::TakeOverLast() {
  if (!has_leases_ || replicas_.size() == 1 ||
      IsIn(options_.without.mishaps, Mishap::kOperatorRestart)) {
    return;
  }
  SettleDown();
  const Actor self = scheduler_.Become(people_actor_);
  const auto chosen = crowd_->ChooseUnrecorded({});
  scheduler_.Become(self);
  const auto leader =
      chosen ? std::ranges::find(replicas_, HolderFor(chosen->first).first, &Replica::name)
             : replicas_.end();
  if (leader == replicas_.end()) {
    return;
  }
  oracle_->SetStrict(false);
  ++result_.mishaps[static_cast<std::size_t>(Mishap::kOperatorRestart)];
  for (const std::string_view plural : kWorkloadPlurals) {
    network_.DelayWatches(plural, base::Clock::Real().Now() + kLateNews);
  }
  scheduler_.Become(people_actor_);
  crowd_->EditAndScale(chosen->second, {});
  scheduler_.Become(self);
  Lasts(Mishap::kOperatorRestart, kNever);
  const auto index = static_cast<std::size_t>(leader - replicas_.begin());
  StopReplica(index);
  SleepFor(random_.Between(kShortestAbsence, kLongestAbsence) * kSecond);
  StartReplica(index);
  Lasts(Mishap::kOperatorRestart, scheduler_.now());
}

void World::MoveLast() {
  if (shards_ == 1 || replicas_.size() == 1 ||
      IsIn(options_.without.mishaps, Mishap::kOperatorRestart)) {
    return;
  }
  oracle_->SetStrict(false);
  ++result_.mishaps[static_cast<std::size_t>(Mishap::kOperatorRestart)];
  const std::size_t index = random_.Below(replicas_.size());
  Lasts(Mishap::kOperatorRestart, kNever);
  StopReplica(index);
  SleepFor(random_.Between(kShortestAbsence, kLongestAbsence) * kSecond);
  network_.SetRates({});
  network_.AimAtWrites(Fault::kLate, kMostWrites);
  StartReplica(index);
  Lasts(Mishap::kOperatorRestart, scheduler_.now());
  const Actor self = scheduler_.Become(people_actor_);
  for (int i = 0; i < kEdits && !failed(); ++i) {
    crowd_->EditSome({});
    SleepFor(random_.Between(100, 600) * 1'000'000);
  }
  scheduler_.Become(self);
  network_.AimAtWrites(Fault::kNone, 0);
}

}  // namespace kubexx::simulation
