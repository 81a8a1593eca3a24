#include "world.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <stop_token>
#include <string_view>
#include <utility>

#include "csi_driver.h"
#include "kubelet.h"
#include "mirror.h"
#include "oracle/pod_template.h"

namespace kubexx::simulation {
namespace {

/// The revision of a storage with nothing in it.
constexpr apiserver::storage::Revision kFirst = 1;
/// Within this much time after the last fault everything is as it should be: a watch that is
/// half-open is noticed when its time is over, which is ten minutes at most, and a list that is
/// tried again waits for half a minute at most.
constexpr Nanoseconds kRecovery = 40 * kMinute;
constexpr Nanoseconds kLook = 10 * kSecond;
/// Minutes without a storm.
constexpr std::int64_t kShortestCalm = 60;
/// The same where days pass: from half a day to four and a half.
constexpr std::int64_t kShortestDays = std::int64_t{12} * 60;
constexpr std::int64_t kLongestDays = std::int64_t{108} * 60;
/// Of a thousand runs of days, so many have the definitions of policies, as the chart installs
/// them: operators that miss them ask for them five hundred times an hour.
constexpr std::uint64_t kOftenInDays = 950;
/// One of so many seeds has objects of a described kind, if it has no policies.
constexpr std::uint64_t kObjectsEach = 3;
/// One of so many seeds has sources that workloads of other namespaces name, if it has no policies.
constexpr std::uint64_t kOthersEach = 4;
constexpr std::uint64_t kOften = 500;  ///< the same of others
/// A longer run than this is one of days: people do less in an hour.
constexpr double kLongHours = 12;
/// With Leases it takes so many at most.
constexpr double kMostHoursWithLeases = 12;
/// How often a server looks at what is due, and one that is busy. Days are made of seconds.
constexpr base::Duration kTick = std::chrono::seconds(1);
constexpr base::Duration kSlowTick = std::chrono::seconds(10);
/// The shortest watches of the reader, whose hours do not count; a half-open one of twenty minutes
/// is still noticed within kRecovery.
constexpr std::chrono::seconds kWatches{300};
constexpr std::chrono::seconds kLongWatches{600};
/// Of a thousand writes and events of the server's storage, in some storms.
constexpr std::uint64_t kSlowWrites = 100;
/// Who count up at the end of a storm.
constexpr int kClerks = 2;
/// How many looks in a row must find nothing.
constexpr int kCalmLooks = 3;
/// Of a thousand storms, in so many policies have waves.
constexpr std::uint64_t kOftenWaves = 500;
/// Of a thousand first storms that are not strict.
constexpr std::uint64_t kOftenWatched = 300;
/// Of a thousand runs, in so many some workloads are reloaded in place.
constexpr std::uint64_t kOftenInPlace = 250;
constexpr const char* kByAnnotations = "--reload-strategy=annotations";

/// Each of about half of the faults meets up to so many of a thousand requests.
FaultRates RandomRates(oracle::Random& random) {
  FaultRates rates{};
  const std::int64_t most = random.Chance(300) ? 60 : 15;
  for (std::size_t i = 1; i < kFaults; ++i) {
    rates[i] = random.Chance(500) ? static_cast<std::uint16_t>(random.Between(1, most)) : 0;
  }
  return rates;
}

}  // namespace

std::string_view ToString(Mishap mishap) {
  static constexpr std::array<std::string_view, kMishaps> kNames = {"server restart",
                                                                    "compaction",
                                                                    "operator kill",
                                                                    "operator restart",
                                                                    "operator pause",
                                                                    "partition",
                                                                    "rights taken",
                                                                    "clock jump",
                                                                    "rights in a namespace taken",
                                                                    "away",
                                                                    "restore",
                                                                    "relist",
                                                                    "leases"};
  return kNames[static_cast<std::size_t>(mishap)];
}

World::World(Scheduler& scheduler, const RunOptions& options, RunResult& result)
    : scheduler_(scheduler),
      options_(options),
      result_(result),
      random_(options.seed * 2654435761),
      timeline_(scheduler, options.show),
      network_(random_.Fork(),
               [this](const std::string& client, const rest::HttpRequest& request) {
                 Inspect(client, request);
               }),
      server_actor_(scheduler.NewActor("server")),
      people_actor_(scheduler.NewActor("people")),
      cluster_actor_(scheduler.NewActor("cluster")),
      reader_actor_(scheduler.NewActor("reader")),
      is_long_(options.hours > kLongHours),
      tick_(is_long_ ? kSlowTick : kTick) {
  // Leases are renewed every two seconds: an hour with them takes ten times as long.
  replicas_.resize(random_.Chance(is_long_ ? 900 : 400) ? 1 : random_.Below(2) + 2);
  has_leases_ = replicas_.size() > 1 || random_.Chance(is_long_ ? 20 : 300);
  if (has_leases_) {
    shards_ = random_.Chance(500) ? 1 : 2;
    operator_arguments_ = {"--enable-ha", "--shards=" + std::to_string(shards_)};
  }
  if (random_.Chance(300)) {
    operator_arguments_.emplace_back(kByAnnotations);
  }
  if (random_.Chance(200)) {
    operator_arguments_.emplace_back("--max-concurrent-rollouts-per-namespace=1");
    is_limited_ = true;
  }
  if (options.seed % 4 == 0) {
    operator_arguments_.emplace_back("--history=3");
  }
  if (Restores()) {
    operator_arguments_.emplace_back("--allow-restore");
  }
  may_restore_ = random_.Chance(200);
  static constexpr Rights kRights[] = {Rights::kEverywhere, Rights::kWritesBySpace,
                                       Rights::kWritesBySpace, Rights::kBySpace};
  rights_ = kRights[random_.Below(std::size(kRights))];
  network_.Leave(options.without.faults);
}

World::~World() = default;

void World::Fail(const std::string& problem) {
  if (!failed()) {
    timeline_.Add("PROBLEM", problem);
    std::snprintf(result_.problem.data(), result_.problem.size(), "%s", problem.c_str());
  }
}

void World::SleepFor(Nanoseconds time) {
  base::Clock::Real().SleepFor(std::chrono::nanoseconds(time), {});
}

void World::Storm(Nanoseconds until, bool strict) {
  const bool has_waves = random_.Chance(kOftenWaves) && BeginWaves();
  if (has_waves) {
    SleepFor(storms_ == 0 ? kMinute : 0);  // who has just begun does not know what came after what
  }
  // As strict, but what operators write may get lost.
  const bool watched = !strict && storms_ == 0 && random_.Chance(kOftenWatched);
  const bool calm = strict || watched || random_.Chance(200);
  oracle_->SetStrict(strict, is_limited_);
  oracle_->SetWatched(strict || watched);
  backups_.clear();
  result_.strict_storms += strict ? 1 : 0;
  network_.SetRates(calm ? FaultRates{} : RandomRates(random_));
  slow_storage_->SetRate(strict ? 0 : random_.Below(2) * kSlowWrites);
  if (!strict && random_.Chance(watched ? 1000 : 400)) {
    static constexpr Fault kAimed[] = {Fault::kLostAnswer,  Fault::kLostRequest, Fault::kConflict,
                                       Fault::kUnavailable, Fault::kStalled,     Fault::kLate,
                                       Fault::kLate,        Fault::kLate};
    network_.AimAtWrites(kAimed[random_.Below(std::size(kAimed))],
                         static_cast<std::uint16_t>(random_.Between(50, 600)));
  }
  const std::uint64_t often = strict || watched ? 0 : random_.Below(600);
  const Actor self = scheduler_.Become(people_actor_);
  // Up to two or twenty seconds between what they do.
  // Later waves begin only when data stay what they are for a while.
  const std::int64_t pace = random_.Chance(300) && !has_waves ? 2000 : 20000;
  std::jthread people([this, pace, random = random_.Fork()](const std::stop_token& stop) mutable {
    while (
        base::Clock::Real().SleepFor(std::chrono::milliseconds(random.Between(10, pace)), stop)) {
      crowd_->Do({});
    }
  });
  scheduler_.Become(self);
  while (scheduler_.now() < until && !failed()) {
    SleepFor(random_.Between(100, 30000) * 1'000'000);
    if (const auto revision = storage_->CurrentRevision({})) {
      backups_.push_back(*revision);
    }
    if (random_.Chance(often)) {
      Do(static_cast<Mishap>(random_.Below(kMishaps)));
    }
  }
}

std::optional<std::string> World::Unsettled(bool with_queues) {
  if (auto stale = oracle_->Stale()) {
    return stale;
  }
  if (auto doubt = oracle_->LeftInDoubt()) {
    return doubt;
  }
  if (auto difference = mirror_->Difference(*storage_)) {
    return difference;
  }
  for (std::size_t i = 0; with_queues && i < replicas_.size(); ++i) {
    const Replica& replica = replicas_[i];
    const std::string metrics = replica.process->Metrics();
    CheckMetrics(replica, metrics);
    if (metrics.find("\nreloader_workqueue_depth 0\n") == std::string::npos) {
      return "the queue of " + replica.name + " is not empty";
    }
  }
  return std::nullopt;
}

void World::Quiet(std::uint64_t& checks) {
  timeline_.Add("simulation", "from here on everything works");
  network_.SetRates({});
  network_.AimAtWrites(Fault::kNone, 0);
  oracle_->SetWaves({});
  const Actor self = scheduler_.Become(people_actor_);
  crowd_->EndHolds({});
  scheduler_.Become(self);
  int calm = 0;
  for (const Nanoseconds end = scheduler_.now() + kRecovery;
       calm < kCalmLooks && scheduler_.now() < end && !failed();) {
    SleepFor(kLook);
    calm = Unsettled(!is_long_ || calm + 1 == kCalmLooks) ? 0 : calm + 1;
    if (const auto wrong = oracle_->Wrong()) {
      Fail(*wrong);
    }
  }
  if (const auto unsettled = Unsettled(!is_long_ || calm < kCalmLooks); unsettled && !failed()) {
    Fail("still after " + std::to_string(kRecovery / kMinute) + " minutes " + *unsettled);
  }
  if (!failed()) {
    timeline_.Add("simulation", "everything is as it should be");
    CheckQuiet(checks);
  }
}

void World::Run() {
  CatchLog();
  storage_ = *apiserver::storage::NewMemoryStorage({.base_revision = kFirst});
  oracle_ = std::make_unique<oracle::Oracle>(
      *storage_, [this](std::string_view who, std::string_view what) { timeline_.Add(who, what); },
      oracle::OracleOptions{.first = kFirst,
                            .exact = true,
                            .shares = options_.seed % kOthersEach == 0,
                            .now = [this] { return ToTimePoint(scheduler_.now()); }});
  StartServer();
  const Actor self = scheduler_.Become(people_actor_);
  const bool by_annotations =
      std::ranges::find(operator_arguments_, kByAnnotations) != operator_arguments_.end();
  const bool has_argo = random_.Chance(350);
  if (has_argo) {
    operator_arguments_.emplace_back("--is-Argo-Rollouts=true");
  }
  const bool has_csi = random_.Chance(250);
  if (has_csi) {
    operator_arguments_.emplace_back("--enable-csi-integration");
  }
  const bool in_place = random_.Chance(kOftenInPlace);
  if (in_place) {
    operator_arguments_.emplace_back("--reload-in-place");
  }
  kubelet_ = std::make_unique<Kubelet>(*oracle_, random_.Fork());
  crowd_ = std::make_unique<People>(
      People::Options{.client = ClientOf("people", false),
                      .former = [this](const std::string& name) { return oracle_->FormerOf(name); },
                      // The annotation of a rollout tells of one source alone.
                      .some_unrecorded = !by_annotations,
                      .policies = random_.Chance(is_long_ ? kOftenInDays : kOften),
                      .argo = has_argo,
                      .openshift = is_long_ && options_.seed % 10 != 0,
                      .rotate = has_csi
                                    ? [this](const std::string& space) { driver_->Rotate(space); }
                                    : std::function<void(const std::string&)>(),
                      .in_place = in_place,
                      .objects = options_.seed % kObjectsEach == 0,
                      .others = options_.seed % kOthersEach == 0,
                      .rights = rights_,
                      .without = options_.without.acts},
      random_.Fork(), timeline_);
  if (has_csi) {
    scheduler_.Become(cluster_actor_);
    driver_ = std::make_unique<CsiDriver>(ClientOf("csi-driver", false), *oracle_, random_.Fork());
    scheduler_.Become(people_actor_);
  }
  crowd_->Begin({});
  if (crowd_->HasObjects()) {
    operator_arguments_.push_back("--source-kinds=[{group: ci.example.com, version: v1, kind: " +
                                  std::string(oracle::kObjectKind) +
                                  ", resource: " + std::string(oracle::kObjectPlural) +
                                  ", fields: [data.key, data.other]}]");
  }
  if (crowd_->HasOthers()) {
    operator_arguments_.emplace_back("--sources-in-other-namespaces");
  }
  if (rights_ == Rights::kBySpace) {
    for (const std::string& space : crowd_->spaces()) {
      operator_arguments_.push_back("--namespaces=" + space);
    }
  }
  ledger_ = std::make_unique<Ledger>(
      std::vector<std::shared_ptr<rest::RESTClient>>(kClerks, ClientOf("clerk", false)),
      kOperatorSpace);
  scheduler_.Become(cluster_actor_);
  rollouts_ = std::make_unique<oracle::Rollouts>(
      ClientOf("cluster", false), *oracle_, random_.Fork(),
      options_.seed % 2 == 0 ? oracle::Rollouts::Pods::kOneByOne : oracle::Rollouts::Pods::kAtOnce);
  scheduler_.Become(reader_actor_);
  mirror_ = std::make_unique<Mirror>(ClientOf("reader", true), random_.Fork(),
                                     is_long_ ? kLongWatches : kWatches);
  scheduler_.Become(self);
  StartReplicas();
  const Nanoseconds begin = scheduler_.now();
  const double hours =
      is_long_ && has_leases_ ? std::min(options_.hours, kMostHoursWithLeases) : options_.hours;
  const auto end = begin + static_cast<Nanoseconds>(hours * 60 * kMinute);
  Quiet(result_.quiet_periods);
  for (; !failed() && scheduler_.now() < end; ++storms_) {
    const Nanoseconds until = scheduler_.now() + random_.Between(30, 600) * kSecond;
    // Operators whose watches are known to be well can be asked for more.
    const bool strict = storms_ == 0 && random_.Chance(400);
    result_.storms = storms_ + 1;
    if (!IsIn(options_.without.storms, storms_)) {
      Storm(until, strict);
      EndStorm();
    }
    Quiet(result_.quiet_periods);
    const auto left = (end - scheduler_.now()) / kMinute;
    if (is_long_) {
      CalmDays(
          std::min(end, scheduler_.now() + random_.Between(kShortestDays, kLongestDays) * kMinute));
    } else if (left > kShortestCalm * 2) {
      // The longer a run, the more of it is as clusters are most of the time.
      Calm(scheduler_.now() +
           random_.Between(kShortestCalm, has_leases_ ? kShortestCalm * 2 : left) * kMinute);
      Quiet(result_.quiet_periods);
    }
  }
  for (const Replica& replica : replicas_) {
    CountHours(replica);
  }
  result_.virtual_hours =
      static_cast<double>(scheduler_.now() - begin) / static_cast<double>(60 * kMinute);
  const oracle::Oracle::Counts counts = oracle_->counts();
  result_.rollouts = counts.rollouts;
  result_.changes = counts.changes;
  result_.later_pods = counts.later_pods;
  result_.left_behind = counts.left_behind;
  result_.faults = network_.faults();
  result_.hash = scheduler_.hash();
  result_.points = scheduler_.points();
  result_.switches = scheduler_.switches();
  result_.finished = true;
}

}  // namespace kubexx::simulation
