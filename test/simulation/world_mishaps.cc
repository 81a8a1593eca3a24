// The processes of a World, and what happens to them.
#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

#include "kubelet.h"
#include "world.h"

namespace kubexx::simulation {
namespace {

/// How far clocks are set, and how far they go wrong.
constexpr std::int64_t kMostAhead = 600;
constexpr std::int64_t kMostMillionths = 500;
/// As `etcdutl snapshot restore --bump-revision` does.
constexpr std::int64_t kBump = 1'000'000;
/// For so long leaders and Leases may be of two histories.
constexpr Nanoseconds kTwoHistories = 2 * kMinute;

/// In runs of days: a bookmark a minute for each watch would take a third of their time.
constexpr base::Duration kRareBookmarks = std::chrono::minutes(10);

constexpr const char* kAdminToken = "admin-token";
constexpr const char* kOperatorToken = "operator-token";

}  // namespace

rest::Config World::ConfigOf(const std::string& name, const char* token, bool faulty) {
  return {.host = "http://simulation",
          .bearer_token = token,
          .user_agent = name,
          .qps = -1,
          .round_tripper = network_.ConnectionsOf(name, faulty)};
}

std::shared_ptr<rest::RESTClient> World::ClientOf(const std::string& name, bool faulty) {
  return *rest::RESTClient::New(ConfigOf(name, kAdminToken, faulty));
}

void World::StartServer() {
  const Actor self = scheduler_.Become(server_actor_);
  apiserver::ApiOptions options;
  options.token = apimachinery::Bytes(kAdminToken);
  options.tokens.push_back(
      {.token = apimachinery::Bytes(kOperatorToken), .user = {.name = kOperatorUser}});
  options.rbac = true;
  if (is_long_) {
    options.cacher.bookmark_interval = kRareBookmarks;
  }
  auto storage = std::make_unique<SlowStorage>(*storage_, random_.Fork());
  if (slow_storage_) {
    storage->SetRate(slow_storage_->rate());
    former_slow_storages_.push_back(std::move(slow_storage_));  // threads may still be in it
  }
  slow_storage_ = std::move(storage);
  server_ = std::make_shared<Server>(
      *slow_storage_, std::move(options),
      Server::Observer{.begin = [this](WireCall& call) { CheckArrival(call); },
                       .end = [this](const WireCall& call, int status) { OnAnswer(call, status); }},
      tick_);
  scheduler_.Become(self);
  network_.SetServer(server_);
}

void World::KillServer() {
  network_.SetServer(nullptr);
  server_->Kill();
  former_servers_.push_back(std::move(server_));  // Calls may still have it.
}

void World::Compact() {
  if (const auto revision = storage_->CurrentRevision({})) {
    (void)storage_->Compact(*revision, {});
  }
}

void World::StartReplica(std::size_t index) {
  Replica& replica = replicas_[index];
  replica.name = std::string("operator-") + static_cast<char>('a' + index) + "." +
                 std::to_string(next_process_++);
  replica.actor = scheduler_.NewActor(replica.name);
  replica.since = scheduler_.now();
  replica.disturbed = 0;
  if (random_.Chance(300)) {
    SetClock(replica);
  }
  oracle_->SetWatched(false);
  oracle_->SetOldestOperator(
      ToTimePoint(std::ranges::min_element(replicas_, {}, &Replica::since)->since));
  const Actor self = scheduler_.Become(replica.actor);
  replica.process = std::make_shared<OperatorProcess>(
      operator_arguments_, replica.name, ConfigOf(replica.name, kOperatorToken, true), tick_,
      [this](std::shared_ptr<rest::RESTClient> client) {
        return kubelet_->AccessFor(std::move(client));
      });
  replica.main = std::make_unique<std::jthread>(
      [this, process = replica.process](const std::stop_token& stop) mutable {
        if (const auto started = process->Start(); !started) {
          Fail("an operator does not start: " + started.error().ToString());
          return;
        }
        while (base::Clock::Real().SleepFor(std::chrono::hours(24), stop)) {
        }
        process->Stop();
        process.reset();
        timeline_.Add("has ended");
      });
  scheduler_.Become(self);
  timeline_.Add(replica.name, "begins");
}

void World::SetClock(const Replica& replica) {
  oracle_->IgnoreWaveTimes();
  scheduler_.SetWallClock(replica.actor, random_.Between(-kMostAhead, kMostAhead) * kSecond,
                          random_.Between(-kMostMillionths, kMostMillionths));
}

void World::CountHours(const Replica& replica) {
  result_.operator_hours +=
      static_cast<double>(scheduler_.now() - replica.since) / static_cast<double>(60 * kMinute);
}

void World::KillReplica(std::size_t index) {
  Replica& replica = replicas_[index];
  timeline_.Add(replica.name, "is killed");
  CountHours(replica);
  scheduler_.Suspend(replica.actor, kNever);
  network_.EndClient(replica.name);
  // Nothing of it runs any more, so nothing of it can be destroyed.
  (void)replica.main.release();
  new std::shared_ptr<OperatorProcess>(std::move(replica.process));
}

void World::StopReplica(std::size_t index) {
  Replica& replica = replicas_[index];
  timeline_.Add(replica.name, "is told to end");
  CountHours(replica);
  replica.process.reset();
  replica.main.reset();
}

void World::EndReplicas() {
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    if (random_.Chance(500)) {
      KillReplica(index);
    } else {
      StopReplica(index);
    }
  }
}

void World::StartReplicas() {
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    StartReplica(index);
  }
}

void World::Restore() {
  if (backups_.empty()) {
    return;
  }
  const apiserver::storage::Revision revision = backups_[random_.Below(backups_.size())];
  const auto current = storage_->CurrentRevision({});
  const apiserver::storage::Revision base = current.value_or(0) + kBump;
  auto restored = *apiserver::storage::NewMemoryStorage({.base_revision = base});
  timeline_.Add("server", "is killed, and restored from a backup of " + std::to_string(revision));
  KillServer();
  const auto listed = storage_->GetList(
      "", {.revision = revision},
      [&restored](apiserver::storage::KeyValue&& item) -> apimachinery::Result<void> {
        const auto made = restored->Create(item.key, std::string(*item.value), {});
        return made ? apimachinery::Result<void>() : apimachinery::Fail(made.error());
      },
      {});
  if (listed) {
    former_storages_.push_back(std::exchange(storage_, std::move(restored)));
    for (Replica& replica : replicas_) {
      replica.disturbed = scheduler_.now() + kTwoHistories;
    }
    oracle_->Restart(*storage_, base);
    backups_.clear();
  }
  StartServer();
  denied_until_ = scheduler_.now() + 3 * kMinute;
  crowd_->SetRights(true, {});
}

void World::SetRights(bool given, const std::string& space) {
  timeline_.Add("people", std::string(given ? "give operators their rights back"
                                            : "take the rights of operators") +
                              (space.empty() ? "" : " in " + space));
  denied_until_ = kNever;
  oracle_->SetWatched(false);
  if (space.empty()) {
    crowd_->SetRights(given, {});
  } else {
    crowd_->SetRightsIn(space, given, {});
  }
  if (given) {
    denied_until_ = scheduler_.now() + 3 * kMinute;
  }
}

void World::HoldUpLeases(const Replica& replica) {
  timeline_.Add(replica.name, "gets no answer about Leases");
  network_.HoldUpLeases(replica.name, random_.Chance(500));
  // Meanwhile there is something to write, for it and for who leads then.
  for (const Nanoseconds end = scheduler_.now() + random_.Between(1, 60) * kSecond;
       scheduler_.now() < end;) {
    SleepFor(random_.Between(500, 3000) * 1'000'000);
    const Actor self = scheduler_.Become(people_actor_);
    crowd_->EditSome({});
    scheduler_.Become(self);
  }
  network_.HoldUpLeases("", false);
}

bool World::BeginWaves() {
  if (IsIn(options_.without.mishaps, Mishap::kAway)) {
    return false;
  }
  const Actor self = scheduler_.Become(people_actor_);
  auto waves = crowd_->BeginWaves(Restores(), {});
  scheduler_.Become(self);
  if (!waves) {
    return false;
  }
  // Who begins has read all policies before anything is rolled; who has run for long may be told by
  // a connection of which nobody knows that it is half-open.
  ++result_.mishaps[static_cast<std::size_t>(Mishap::kAway)];
  EndReplicas();
  oracle_->SetWaves(*std::move(waves));
  StartReplicas();
  return true;
}

void World::Do(Mishap mishap) {
  if (IsIn(options_.without.mishaps, mishap) || (mishap == Mishap::kRestore && !may_restore_) ||
      (mishap == Mishap::kSpaceRights && rights_ == Rights::kEverywhere) ||
      (mishap == Mishap::kLeases && !has_leases_)) {
    return;
  }
  ++result_.mishaps[static_cast<std::size_t>(mishap)];
  Lasts(mishap, kNever);
  oracle_->SetWatched(false);
  Let(mishap);
  if (mishap != Mishap::kOperatorPause) {
    Lasts(mishap, scheduler_.now());
  }
}

void World::Let(Mishap mishap) {
  const std::size_t index = random_.Below(replicas_.size());
  Replica& replica = replicas_[index];
  switch (mishap) {
    case Mishap::kServerRestart:
      timeline_.Add("server", "is killed");
      KillServer();
      SleepFor(random_.Between(1, 20) * (random_.Chance(200) ? 5 : 1) * kSecond);
      if (random_.Chance(300)) {
        Compact();
      }
      timeline_.Add("server", "begins");
      StartServer();
      return;
    case Mishap::kCompaction:
      timeline_.Add("server", "forgets its history");
      Compact();
      return;
    case Mishap::kOperatorKill:
      KillReplica(index);
      SleepFor(random_.Between(0, 30) * kSecond);
      StartReplica(index);
      return;
    case Mishap::kOperatorRestart:
      StopReplica(index);
      SleepFor(random_.Between(0, 30) * kSecond);
      StartReplica(index);
      return;
    case Mishap::kOperatorPause: {
      const Nanoseconds until = scheduler_.now() + random_.Between(1, 60) * kSecond;
      timeline_.Add(replica.name, "stands still");
      replica.disturbed = until;
      Lasts(mishap, until);
      scheduler_.Suspend(replica.actor, until);
      return;
    }
    case Mishap::kPartition:
      timeline_.Add(replica.name, "is cut off");
      network_.Disconnect(replica.name);
      SleepFor(random_.Between(1, 120) * kSecond);
      timeline_.Add(replica.name, "has its network back");
      network_.Reconnect(replica.name);
      return;
    case Mishap::kRelist:
      timeline_.Add(replica.name, "is refused");
      network_.Refuse(replica.name);
      SleepFor(random_.Between(1, 90) * kSecond);
      Compact();
      network_.Reconnect(replica.name);
      return;
    case Mishap::kLeases:
      return HoldUpLeases(replica);
    case Mishap::kRights:
      SetRights(false);
      SleepFor(random_.Between(1, 120) * kSecond);
      SetRights(true);
      return;
    case Mishap::kSpaceRights: {
      const std::string space = crowd_->spaces()[random_.Below(crowd_->spaces().size())];
      SetRights(false, space);
      SleepFor(random_.Between(1, 120) * kSecond);
      SetRights(true, space);
      return;
    }
    case Mishap::kAway:
      EndReplicas();
      SleepFor(random_.Between(1, 60) * kSecond);
      StartReplicas();
      return;
    case Mishap::kRestore:
      Restore();
      return;
    case Mishap::kClockJump:
      timeline_.Add(replica.name, "has its clock set");
      SetClock(replica);
      return;
  }
}

}  // namespace kubexx::simulation
