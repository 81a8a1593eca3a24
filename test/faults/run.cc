#include "faults/run.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/apiserver/storage/etcd3/etcd3.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::faults {
namespace {

using apimachinery::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostReplicas = 3;
/// For how long a rollout counts for a fault that is over.
constexpr seconds kAfterwards(2);
constexpr milliseconds kTick(50);
constexpr seconds kProgressEach(30);
/// Within this much time after a storm all pods have their data: a Lease of a dead operator lasts
/// for half a minute, what failed or was refused is tried again after a minute at most.
constexpr std::chrono::minutes kRecovery(5);
/// For how long nothing may be wrong.
constexpr seconds kCalm(5);
constexpr seconds kPeace(3);
/// Operators write records that are out of date once a minute.
constexpr std::chrono::minutes kRecords(4);
/// Between two deeds of people.
constexpr std::int64_t kPaceOfPeople = 1200;

std::string ToText(milliseconds time) {
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() / 100 % 10) + " s";
}

}  // namespace

Run::Run(RunOptions options, std::stop_token stop)
    : options_(std::move(options)),
      stop_(std::move(stop)),
      random_(options_.seed * 2654435761),
      story_(options_.folder + "/story.log"),
      begin_(base::Clock::Real().Now()),
      next_progress_(begin_ + kProgressEach),
      cluster_(options_.cluster) {
  tally_.seed = options_.seed;
  tally_.wanted = options_.faults;
}

Run::~Run() {
  for (const auto& replica : replicas_) {
    replica->Kill();
  }
}

bool Run::goes_on() const {
  return !stop_.stop_requested() && (options_.keep_going || tally_.problems.empty());
}

void Run::Fail(const std::string& problem) {
  Tell("PROBLEM", problem);
  tally_.problems.push_back(problem);
  std::printf("problem: %s\n", problem.c_str());
  std::fflush(stdout);
}

Result<void> Run::Begin() {
  KX_RETURN_IF_ERROR(cluster_.Up());
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadKubeconfig({.path = cluster_.kubeconfig()}));
  config.qps = -1;
  config.timeout = seconds(10);
  KX_ASSIGN_OR_RETURN(auto client, rest::RESTClient::New(config));
  config.user_agent = "kube-controller-manager";
  KX_ASSIGN_OR_RETURN(auto controllers, rest::RESTClient::New(config));
  KX_ASSIGN_OR_RETURN(
      storage_, apiserver::storage::etcd3::NewEtcd3Storage(
                    {.endpoints = {"http://127.0.0.1:" + std::to_string(cluster_.etcd_port())},
                     .compact_interval = base::Duration(0)}));
  KX_ASSIGN_OR_RETURN(const auto revision, storage_->CurrentRevision(stop_));
  oracle_ = std::make_unique<oracle::Oracle>(
      *storage_, [this](std::string_view who, std::string_view what) { Tell(who, what); },
      oracle::OracleOptions{.first = revision, .exact = true});
  admin_.emplace(std::move(client));
  rights_.emplace(*admin_, Crowd::Spaces());
  crowd_ = std::make_unique<Crowd>(*admin_, *oracle_, random_.Fork(),
                                   [this](const std::string& what) { Tell("people", what); });
  crowd_->Begin(stop_);
  rights_->Begin(stop_);
  rollouts_ = std::make_unique<oracle::Rollouts>(std::move(controllers), *oracle_, random_.Fork());
  for (std::size_t i = 0; i < kMostReplicas; ++i) {
    replicas_.push_back(std::make_unique<Replica>(
        Replica::Settings{.program = options_.operator_program,
                          .name = std::string(1, static_cast<char>('a' + i)),
                          .folder = options_.folder,
                          .tell = [this](const std::string& what) { Tell("process", what); }},
        cluster_));
  }
  player_.emplace(Player::Targets{.cluster = cluster_,
                                  .storage = *storage_,
                                  .judge = *oracle_,
                                  .rights = *rights_,
                                  .replicas = replicas_});
  return {};
}

Result<void> Run::Go() {
  KX_RETURN_IF_ERROR(Begin());
  std::size_t left = options_.faults;
  Reconfigure();
  CheckPeace();
  while (left > 0 && goes_on()) {
    const std::size_t faults = std::min(left, options_.faults_of_storm);
    KX_RETURN_IF_ERROR(Storm(faults));
    left -= faults;
    if (goes_on()) {
      CheckQuiet();
    }
    if (goes_on()) {
      Reconfigure();
      CheckPeace();
    }
  }
  doing_ = "ends";
  for (std::size_t i = 0; i < running_; ++i) {
    replicas_[i]->Stop();
  }
  CheckLogs();
  return {};
}

Tally Run::Summary() {
  Tally tally = tally_;
  tally.broken_off = stop_.stop_requested();
  tally.took = std::chrono::duration_cast<seconds>(Now() - begin_);
  if (oracle_) {
    tally.counts = oracle_->counts();
  }
  if (crowd_) {
    tally.deeds = crowd_->done();
  }
  for (const auto& replica : replicas_) {
    tally.ended_by_themselves += replica->ended_by_itself();
  }
  return tally;
}

void Run::Reconfigure() {
  for (std::size_t i = 0; i < running_; ++i) {
    replicas_[i]->Terminate();
  }
  for (std::size_t i = 0; i < running_; ++i) {
    if (!replicas_[i]->Stop()) {
      Fail("an operator did not end in time, or not well: see operator-" +
           std::string(1, static_cast<char>('a' + i)) + ".log");
    }
  }
  running_ = random_.Chance(450) ? 1 : 2 + random_.Below(kMostReplicas - 1);
  std::vector<std::string> arguments;
  is_ha_ = running_ > 1 || random_.Chance(200);
  if (is_ha_) {
    arguments.emplace_back("--enable-ha");
    arguments.push_back("--shards=" + std::to_string(random_.Chance(500) ? 1 : 2));
  }
  if (random_.Chance(250)) {
    arguments.emplace_back("--reload-strategy=annotations");
  }
  std::string flags;
  for (const std::string& argument : arguments) {
    flags += " " + argument;
  }
  doing_ = std::to_string(running_) + " operators" + flags;
  Tell("run", doing_);
  oracle_->SetOldestOperator(Now());
  for (std::size_t i = 0; i < running_; ++i) {
    replicas_[i]->Start(arguments);
  }
}

std::optional<std::string> Run::AwaitNothing(
    const std::function<std::optional<std::string>()>& found, base::Duration calm,
    base::Duration limit, milliseconds& took) {
  const base::TimePoint begin = Now();
  base::TimePoint well_since = begin;
  for (;;) {
    SleepUntil(Now() + kTick);
    auto wrong = found();
    const base::TimePoint now = Now();
    if (wrong) {
      well_since = now;
    }
    took = std::chrono::duration_cast<milliseconds>(well_since - begin);
    if (now - well_since >= calm || stop_.stop_requested()) {
      return std::nullopt;
    }
    if (now - begin >= limit && wrong) {
      return wrong;
    }
  }
}

void Run::CheckTooMany() {
  if (const auto many = oracle_->TooMany()) {
    ++tally_.too_many;
    Fail(*many);
  }
  if (const auto wrong = oracle_->Wrong()) {
    ++tally_.too_many;
    Fail(*wrong);
  }
}

void Run::CheckLogs() {
  for (const auto& replica : replicas_) {
    std::ifstream log(replica->log());
    for (std::string line; std::getline(log, line);) {
      if (line.find(kSecretMark) != std::string::npos ||
          line.find(kSecretMarkInBase64) != std::string::npos) {
        return Fail("a Secret's value is in " + replica->log());
      }
    }
  }
}

void Run::CheckQuiet() {
  milliseconds took(0);
  const auto old = AwaitNothing([this] { return oracle_->OldPods(); }, kCalm, kRecovery, took);
  if (stop_.stop_requested()) {
    return;
  }
  if (old) {
    ++tally_.missing;
    Fail("missing: " + *old);
  }
  Tell("run", "all pods have their data after " + ToText(took));
  tally_.recoveries.push_back(took);
  CheckTooMany();
}

void Run::CheckPeace() {
  milliseconds took(0);
  const auto stale = AwaitNothing([this] { return oracle_->Stale(); }, kPeace, kRecords, took);
  if (stop_.stop_requested()) {
    return;
  }
  if (stale) {
    ++tally_.missing;
    Fail("missing, after a restart: " + *stale);
  }
  Tell("run", "peace after " + ToText(took));
  ++tally_.restarts_in_peace;
  CheckTooMany();
}

Result<void> Run::Storm(std::size_t faults) {
  const std::vector<PlannedFault> storm = PlanStorm(
      {.faults = faults, .pace = options_.pace, .replicas = running_, .ha = is_ha_}, random_);
  doing_ = "a storm for " + doing_;
  Tell("run", doing_);
  {
    std::stop_source given_up;  // without a server nothing that they do would come to an end
    const std::stop_callback at_stop(stop_, [&given_up] { given_up.request_stop(); });
    const std::jthread people([this, random = random_.Fork(),
                               doing = given_up.get_token()](const std::stop_token& end) mutable {
      while (base::Clock::Real().SleepFor(milliseconds(random.Between(10, kPaceOfPeople)), end)) {
        crowd_->Act(doing);
      }
    });
    Play(storm);
    if (stop_.stop_requested()) {
      return {};
    }
    Tell("run", "from here on everything works");
    if (auto healed = player_->Heal(running_, stop_); !healed) {
      given_up.request_stop();
      return healed;
    }
  }
  crowd_->ResumeAll(stop_);
  doing_ = "everything works";
  return {};
}

void Run::Play(const std::vector<PlannedFault>& storm) {
  /// A beginning or an end.
  struct Act {
    milliseconds at{0};
    std::size_t fault = 0;
    bool ends = false;
  };
  std::vector<Act> acts;
  for (std::size_t i = 0; i < storm.size(); ++i) {
    acts.push_back({.at = storm[i].at, .fault = i});
    acts.push_back({.at = storm[i].at + storm[i].lasts, .fault = i, .ends = true});
  }
  std::ranges::stable_sort(acts, {}, &Act::at);
  const base::TimePoint begin = Now();
  for (const Act& act : acts) {
    SleepUntil(begin + act.at);
    if (stop_.stop_requested()) {
      return;
    }
    const PlannedFault& fault = storm[act.fault];
    if (act.ends) {
      player_->End(fault, stop_);
      continue;
    }
    Tell("fault",
         std::string(ToString(fault.kind)) +
             (fault.replica < running_ ? ", of operator " + std::to_string(fault.replica) : "") +
             ", for " + ToText(fault.lasts));
    ++tally_.faults[fault.kind].count;
    windows_.push_back({.kind = fault.kind,
                        .rollouts_before = oracle_->counts().rollouts,
                        .end = Now() + fault.lasts + kAfterwards});
    player_->Begin(fault, running_, stop_);
  }
}

void Run::SleepUntil(base::TimePoint time) {
  for (base::TimePoint now = Now(); now < time; now = Now()) {
    Tick();
    if (!base::Clock::Real().SleepFor(std::min<base::Duration>(time - now, kTick), stop_)) {
      return;
    }
  }
}

void Run::Tick() {
  for (const auto& replica : replicas_) {
    if (const std::string problem = replica->Look(); !problem.empty()) {
      Fail(problem);
    }
  }
  const base::TimePoint now = Now();
  if (std::ranges::any_of(windows_, [now](const Window& each) { return each.end <= now; })) {
    const std::uint64_t rollouts = oracle_->counts().rollouts;
    std::erase_if(windows_, [this, now, rollouts](const Window& window) {
      if (window.end > now) {
        return false;
      }
      tally_.faults[window.kind].rollouts += rollouts - window.rollouts_before;
      return true;
    });
  }
  ShowProgress(now);
}

void Run::ShowProgress(base::TimePoint now) {
  if (now < next_progress_) {
    return;
  }
  next_progress_ += kProgressEach;
  const auto time = std::chrono::duration_cast<seconds>(now - begin_).count();
  const oracle::Oracle::Counts counts = oracle_->counts();
  std::printf(
      "%02d:%02d:%02d  %llu of %llu faults, %llu changes of data, %llu rollouts, %llu quiet "
      "periods, %llu problems; %s\n",
      static_cast<int>(time / 3600), static_cast<int>(time / 60 % 60), static_cast<int>(time % 60),
      static_cast<unsigned long long>(tally_.faults_done()),
      static_cast<unsigned long long>(options_.faults),
      static_cast<unsigned long long>(counts.changes),
      static_cast<unsigned long long>(counts.rollouts),
      static_cast<unsigned long long>(tally_.recoveries.size()),
      static_cast<unsigned long long>(tally_.problems.size()), doing_.c_str());
  std::fflush(stdout);
}

}  // namespace kubexx::faults
