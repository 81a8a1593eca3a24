#include "world.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <stop_token>
#include <string_view>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/ha/leadership.h"

namespace kubexx::simulation {
namespace {

constexpr Nanoseconds kMinute = 60 * kSecond;
/// Within this much time after the last fault everything is as it should be: a watch that is
/// half-open is noticed when its time is over, which is ten minutes at most, and a list that is
/// tried again waits for half a minute at most.
constexpr Nanoseconds kRecovery = 40 * kMinute;
constexpr Nanoseconds kLook = 10 * kSecond;
/// How many looks in a row must find nothing.
constexpr int kCalmLooks = 3;
/// For how long after a pause a write may be late that was decided before it.
constexpr Nanoseconds kAfterPause = 5 * kSecond;

constexpr const char* kAdminToken = "admin-token";
constexpr const char* kOperatorToken = "operator-token";

bool HasSecret(std::string_view text) {
  return text.find(kSecretMark) != std::string_view::npos ||
         text.find(kSecretMarkInBase64) != std::string_view::npos;
}

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
  static constexpr std::array<std::string_view, kMishaps> kNames = {
      "server restart", "compaction", "operator kill", "operator restart",
      "operator pause", "partition",  "rights taken"};
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
      reader_actor_(scheduler.NewActor("reader")) {
  replicas_.resize(random_.Chance(400) ? 1 : random_.Below(2) + 2);
  has_leases_ = replicas_.size() > 1 || random_.Chance(300);
  if (has_leases_) {
    shards_ = random_.Chance(500) ? 1 : 2;
    operator_arguments_ = {"--enable-ha", "--shards=" + std::to_string(shards_)};
  }
  if (random_.Chance(300)) {
    operator_arguments_.emplace_back("--reload-strategy=annotations");
  }
}

void World::Fail(const std::string& problem) {
  if (!failed()) {
    timeline_.Add("PROBLEM", problem);
    std::snprintf(result_.problem.data(), result_.problem.size(), "%s", problem.c_str());
  }
}

void World::CatchLog() {
  logging::Init({.level = logging::Level::kInfo});
  log_.emplace([this](std::string_view line) {
    while (line.ends_with('\n')) {
      line.remove_suffix(1);
    }
    timeline_.Add("log: " + std::string(line.substr(std::min(line.find(' ') + 1, line.size()))));
    if (HasSecret(line)) {
      Fail("a Secret's value is in the log: " + std::string(line));
    }
  });
}

void World::Inspect(const std::string& client, const rest::HttpRequest& request) {
  if (!client.starts_with("operator")) {
    return;
  }
  if (HasSecret(request.body) || HasSecret(request.target)) {
    Fail("a Secret's value is in a request of " + client + ": " + request.method + " " +
         request.target + " " + std::string(request.body));
  }
  if (has_leases_ && request.method == "PATCH" &&
      std::ranges::any_of(kWorkloadPlurals, [&request](std::string_view plural) {
        return request.target.find("/" + std::string(plural) + "/") != std::string::npos;
      })) {
    CheckLeader(client, request);
  }
}

void World::CheckLeader(const std::string& client, const rest::HttpRequest& request) {
  constexpr std::string_view kBefore = "/namespaces/";
  std::string space = request.target.substr(request.target.find(kBefore) + kBefore.size());
  space.resize(std::min(space.find('/'), space.size()));
  const std::string lease = reloader::LeaseNameOf(reloader::ShardOf(space, shards_), shards_);
  const auto stored = storage_->Get("/registry/leases/operators/" + lease, 0, {});
  const auto tree = stored ? codec::JsonTree::Parse(*stored->value)
                           : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  const codec::JsonTree* const spec = tree ? tree->Find("spec") : nullptr;
  const std::string holder(spec == nullptr ? "" : spec->TextAt("holderIdentity"));
  const auto replica = std::ranges::find(replicas_, client, &Replica::name);
  const bool disturbed =
      replica == replicas_.end() || replica->disturbed + kAfterPause > scheduler_.now();
  if (holder != client && !disturbed) {
    Fail(client + " writes in " + space + ", whose Lease " + lease + " \"" + holder +
         "\" has: " + std::string(request.body));
  }
}

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
  server_ = std::make_shared<Server>(
      *storage_, std::move(options), [this](const WireCall& call, int status) {
        ++result_.requests;
        const http::Request& request = call.request();
        const bool is_patch = request.method == "PATCH" && call.client().starts_with("operator");
        timeline_.Add(call.client(), request.method + " " + request.path +
                                         (request.query.empty() ? "" : "?" + request.query) + " " +
                                         std::to_string(status) +
                                         (is_patch ? " " + request.body : ""));
      });
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
  const Actor self = scheduler_.Become(replica.actor);
  replica.process = std::make_shared<OperatorProcess>(operator_arguments_, replica.name,
                                                      ConfigOf(replica.name, kOperatorToken, true));
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

void World::SleepFor(Nanoseconds time) {
  base::Clock::Real().SleepFor(std::chrono::nanoseconds(time), {});
}

void World::Do(Mishap mishap) {
  ++result_.mishaps[static_cast<std::size_t>(mishap)];
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
    case Mishap::kRights:
      timeline_.Add("people", "take the rights of operators");
      crowd_->SetRights(false, {});
      SleepFor(random_.Between(1, 120) * kSecond);
      timeline_.Add("people", "give them back");
      crowd_->SetRights(true, {});
      return;
  }
}

void World::Storm(Nanoseconds until) {
  const bool calm = random_.Chance(200);
  network_.SetRates(calm ? FaultRates{} : RandomRates(random_));
  if (random_.Chance(400)) {
    static constexpr Fault kAimed[] = {Fault::kLostAnswer,  Fault::kLostRequest, Fault::kConflict,
                                       Fault::kUnavailable, Fault::kStalled,     Fault::kLate};
    network_.AimAtWrites(kAimed[random_.Below(std::size(kAimed))],
                         static_cast<std::uint16_t>(random_.Between(50, 600)));
  }
  const std::uint64_t often = random_.Below(600);
  const Actor self = scheduler_.Become(people_actor_);
  // Up to two or twenty seconds between what they do.
  const std::int64_t pace = random_.Chance(300) ? 2000 : 20000;
  std::jthread people([this, pace, random = random_.Fork()](const std::stop_token& stop) mutable {
    while (
        base::Clock::Real().SleepFor(std::chrono::milliseconds(random.Between(10, pace)), stop)) {
      crowd_->Act({});
    }
  });
  scheduler_.Become(self);
  while (scheduler_.now() < until && !failed()) {
    SleepFor(random_.Between(100, 30000) * 1'000'000);
    if (random_.Chance(often)) {
      Do(static_cast<Mishap>(random_.Below(kMishaps)));
    }
  }
}

std::optional<std::string> World::Unsettled() {
  if (auto stale = oracle_->Stale()) {
    return stale;
  }
  if (auto difference = mirror_->Difference(*storage_)) {
    return difference;
  }
  for (const Replica& replica : replicas_) {
    const std::string metrics = replica.process->Metrics();
    if (metrics.find("\nreloader_workqueue_depth 0\n") == std::string::npos) {
      return "the queue of " + replica.name + " is not empty";
    }
  }
  return std::nullopt;
}

void World::CheckQuiet() {
  ++result_.quiet_periods;
  if (const auto many = oracle_->TooMany()) {
    Fail(*many);
  }
  for (const Replica& replica : replicas_) {
    if (HasSecret(replica.process->Metrics())) {
      Fail("a Secret's value is in the metrics of " + replica.name);
    }
  }
}

void World::Quiet() {
  timeline_.Add("simulation", "from here on everything works");
  network_.SetRates({});
  network_.AimAtWrites(Fault::kNone, 0);
  int calm = 0;
  for (const Nanoseconds end = scheduler_.now() + kRecovery;
       calm < kCalmLooks && scheduler_.now() < end && !failed();) {
    SleepFor(kLook);
    calm = Unsettled() ? 0 : calm + 1;
  }
  if (const auto unsettled = Unsettled(); unsettled && !failed()) {
    Fail("still after " + std::to_string(kRecovery / kMinute) + " minutes " + *unsettled);
  }
  if (!failed()) {
    timeline_.Add("simulation", "everything is as it should be");
    CheckQuiet();
  }
}

void World::Run() {
  CatchLog();
  constexpr apiserver::storage::Revision kFirst = 1;
  storage_ = *apiserver::storage::NewMemoryStorage({.base_revision = kFirst});
  oracle_ = std::make_unique<oracle::Oracle>(
      *storage_, [this](std::string_view who, std::string_view what) { timeline_.Add(who, what); },
      oracle::OracleOptions{.first = kFirst});
  StartServer();
  const Actor self = scheduler_.Become(people_actor_);
  crowd_ = std::make_unique<People>(ClientOf("people", false), random_.Fork(), timeline_);
  crowd_->Begin({});
  scheduler_.Become(cluster_actor_);
  rollouts_ =
      std::make_unique<oracle::Rollouts>(ClientOf("cluster", false), *oracle_, random_.Fork());
  scheduler_.Become(reader_actor_);
  mirror_ = std::make_unique<Mirror>(ClientOf("reader", true));
  scheduler_.Become(self);
  for (std::size_t index = 0; index < replicas_.size(); ++index) {
    StartReplica(index);
  }
  const Nanoseconds begin = scheduler_.now();
  const auto end = begin + static_cast<Nanoseconds>(options_.hours * 60 * kMinute);
  Quiet();
  while (!failed() && scheduler_.now() < end) {
    Storm(scheduler_.now() + random_.Between(30, 600) * kSecond);
    Quiet();
  }
  for (const Replica& replica : replicas_) {
    CountHours(replica);
  }
  result_.virtual_hours =
      static_cast<double>(scheduler_.now() - begin) / static_cast<double>(60 * kMinute);
  result_.rollouts = oracle_->counts().rollouts;
  result_.changes = oracle_->counts().changes;
  result_.faults = network_.faults();
  result_.hash = scheduler_.hash();
  result_.points = scheduler_.points();
  result_.switches = scheduler_.switches();
  result_.finished = true;
}

}  // namespace kubexx::simulation
