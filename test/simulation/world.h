/// @file
/// One run of a simulation: the cluster, what happens to it, and what is checked.
#ifndef KUBEXX_TEST_SIMULATION_WORLD_H_
#define KUBEXX_TEST_SIMULATION_WORLD_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/logging/testing/redirect.h"
#include "kubexx/rest/rest_client.h"
#include "ledger.h"
#include "network.h"
#include "operator_process.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/rollouts.h"
#include "people.h"
#include "scheduler.h"
#include "server.h"
#include "slow_storage.h"
#include "timeline.h"
#include "without.h"

namespace kubexx::simulation {

class CsiDriver;
class Kubelet;
class Mirror;

/// What a run is.
struct RunOptions {
  std::uint64_t seed = 1;
  /// Virtual time that it goes on for. With more than twelve hours most of it is calm.
  double hours = 0.5;
  /// Writes what happens to standard output.
  bool show = false;
  /// Writes the end of the story to standard output when there is a problem.
  bool tell = true;
  Without without{};
};

/// What happens to processes, beside the network's faults.
enum class Mishap : std::uint8_t {
  kServerRestart,    ///< the API server is killed and started again
  kCompaction,       ///< the server's history is forgotten
  kOperatorKill,     ///< an operator's process ends at once; another is started
  kOperatorRestart,  ///< the same, with SIGTERM
  kOperatorPause,    ///< an operator's process stands still for up to a minute
  kPartition,        ///< an operator's connections stand still for a while
  kRights,           ///< operators may do nothing for a while
  kClockJump,    ///< the time of day of an operator's machine is set, and goes on at another pace
  kSpaceRights,  ///< operators lose what they may do in one namespace for a while, where they have
                 ///< their rights by namespace
  kAway,         ///< for a while there is no operator at all
  kRestore,      ///< the API server loses its last minutes, and is restored from a backup; in some
                 ///< seeds
  kRelist,       ///< an operator's connections end, new ones are refused, and the history of that
                 ///< time is forgotten, so that lists tell of all of it at once
  kLeases,       ///< an operator's requests for Leases fail for a while, and no others; where there
                 ///< are Leases
};
inline constexpr std::size_t kMishaps = 13;

/// For lines and counters.
std::string_view ToString(Mishap mishap);

/// What a run came to. Lies in memory that two processes share.
struct RunResult {
  std::uint64_t hash = 0;
  std::uint64_t points = 0;
  std::uint64_t switches = 0;
  double virtual_hours = 0;
  double operator_hours = 0;
  double calm_operator_hours = 0;  ///< of them, in calm times, in which nothing is made to go wrong
  double processor_seconds = 0;
  std::uint64_t rollouts = 0;
  std::uint64_t calm_rollouts = 0;  ///< of them, in calm times
  std::uint64_t changes = 0;
  std::uint64_t later_pods = 0;   ///< that began with other data than those before them
  std::uint64_t left_behind = 0;  ///< workloads that kept such pods with old data
  std::uint64_t requests = 0;
  std::uint64_t quiet_periods = 0;  ///< after storms, at whose end all has to be as it should be
  std::uint64_t calm_checks = 0;    ///< the same within calm times
  std::uint64_t strict_storms = 0;  ///< in which operators must roll nothing that new pods have
  std::uint64_t storms = 0;
  std::array<std::uint64_t, kFaults> faults{};
  std::array<std::uint64_t, kFaults> calm_faults{};  ///< of them, in calm times
  std::array<std::uint64_t, kMishaps> mishaps{};
  /// Rollouts that were made while one of that kind lasted, or up to two seconds later.
  std::array<std::uint64_t, kFaults> fault_rollouts{};
  std::array<std::uint64_t, kMishaps> mishap_rollouts{};
  bool finished = false;
  std::array<char, 1024> problem{};  ///< what must not be, as text that ends with 0; empty: nothing
};

/// The simulated cluster. Its members are for the simulation's first thread.
class World {
 public:
  World(Scheduler& scheduler, const RunOptions& options, RunResult& result);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs to the end, or the first problem. Threads are left; the process is to end.
  void Run();
  /// The end of the timeline.
  std::string Story() const { return timeline_.Tail(400); }

 private:
  struct Replica {
    std::string name{};
    Actor actor = 0;
    Nanoseconds since = 0;
    Nanoseconds disturbed = 0;  ///< paused or cut off until then
    std::shared_ptr<OperatorProcess> process{};
    std::unique_ptr<std::jthread> main{};
  };

  bool failed() const { return result_.problem[0] != '\0'; }
  void Fail(const std::string& problem);
  void CatchLog();
  void Inspect(const std::string& client, const rest::HttpRequest& request);
  void CheckLeader(const std::string& client, const rest::HttpRequest& request);
  /// Every rollout goes by a version, but after three that others have overtaken.
  void CheckVersion(const std::string& client, const rest::HttpRequest& request);
  /// Who has the Lease of the namespace that a workload's path names, and the Lease's name.
  std::pair<std::string, std::string> HolderFor(const std::string& path);
  bool IsDisturbed(const std::string& client);
  /// The server begins to work on a request: whether it may not be made any more.
  void CheckArrival(WireCall& call);
  void OnAnswer(const WireCall& call, int status);
  /// An operator has made a rollout: which faults it met.
  void CountMet();
  rest::Config ConfigOf(const std::string& name, const char* token, bool faulty);
  std::shared_ptr<rest::RESTClient> ClientOf(const std::string& name, bool faulty);

  void StartServer();
  void KillServer();
  void Compact();
  void Restore();
  void StartReplica(std::size_t index);
  void KillReplica(std::size_t index);
  void StopReplica(std::size_t index);
  void CountHours(const Replica& replica);
  /// No operator runs any more: they are killed, or told to end.
  void EndReplicas();
  void StartReplicas();

  /// A time in which things go wrong; `strict`: in which people do what they do, and nothing else.
  void Storm(Nanoseconds until, bool strict);
  /// Policies with waves come into force before anything goes wrong, where there are policies.
  /// Returns whether they do.
  bool BeginWaves();
  /// Where there are such policies, operators put the last good data back: in half of the runs.
  bool Restores() const { return options_.seed % 2 == 1; }
  /// What comes last in a storm, so that nothing that happens later makes up for what is missed.
  void EndStorm();
  /// Clerks count up on a storage that takes its time.
  void CountUp();
  /// A rollout is undone, sometimes while no operator is there.
  void UndoLast();
  /// A workload's baseline is taken away, perhaps while operators have no rights.
  void StripLast();
  /// Data change and come back, and releases are made in between, mostly while no operator is
  /// there, or while none is told of the data.
  void ReleaseLast();
  /// Nothing goes wrong from here on, and what is due is done.
  void SettleDown();
  /// Data are edited while an operator is killed.
  void EditLast();
  /// Another operator takes a workload over while it hears of workloads some seconds late.
  void TakeOverLast();
  /// Data are edited all the time while an operator comes back, to which shards move then.
  void MoveLast();
  /// A time in which people do something now and then, and nothing goes wrong.
  void Calm(Nanoseconds until);
  /// The same of days: with the faults that a network has at any time, and with a check after
  /// whatever people did.
  void CalmDays(Nanoseconds until);
  /// Lets some hours pass, at the end of which people do up to a few things.
  void DoNowAndThen(Nanoseconds until);
  void SetClock(const Replica& replica);
  /// Takes the operators' rights, all of them or those in one namespace, or gives them back.
  void SetRights(bool given, const std::string& space = "");
  void Do(Mishap mishap);
  void Let(Mishap mishap);
  void HoldUpLeases(const Replica& replica);
  /// The mishap goes on until then; kNever: until it is told otherwise.
  void Lasts(Mishap mishap, Nanoseconds until) {
    lasts_until_[static_cast<std::size_t>(mishap)] = until;
  }
  /// A time in which nothing does, at the end of which everything is as it should be; `checks`
  /// counts it.
  void Quiet(std::uint64_t& checks);
  /// What is not as it should be once everything works; `with_queues`: also in operators' queues,
  /// of which only all their metrics tell.
  std::optional<std::string> Unsettled(bool with_queues);
  void CheckQuiet(std::uint64_t& checks);
  /// What a replica's metrics must not tell.
  void CheckMetrics(const Replica& replica, std::string_view metrics);
  void SleepFor(Nanoseconds time);

  Scheduler& scheduler_;
  const RunOptions options_;
  RunResult& result_;
  oracle::Random random_;
  Timeline timeline_;
  Network network_;
  const Actor server_actor_;
  const Actor people_actor_;
  const Actor cluster_actor_;
  const Actor reader_actor_;
  std::optional<logging::testing::Redirect> log_;
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_;
  std::vector<std::unique_ptr<apiserver::storage::MemoryStorage>> former_storages_{};
  std::unique_ptr<oracle::Oracle> oracle_;
  std::unique_ptr<SlowStorage> slow_storage_;  ///< what the server uses of storage_
  std::vector<std::unique_ptr<SlowStorage>> former_slow_storages_{};
  std::shared_ptr<Server> server_;
  std::vector<std::shared_ptr<Server>> former_servers_{};
  std::vector<std::string> operator_arguments_{};
  bool has_leases_ = false;
  int shards_ = 1;
  bool may_restore_ = false;
  Rights rights_ = Rights::kEverywhere;
  const bool is_long_;         ///< days pass
  const base::Duration tick_;  ///< how often a server looks at what is due
  std::vector<apiserver::storage::Revision> backups_{};  ///< of this storm
  std::array<Nanoseconds, kMishaps> lasts_until_{};
  bool is_limited_ = false;  ///< to one rollout at a time in a namespace
  std::vector<Replica> replicas_{};
  std::uint64_t next_process_ = 1;
  std::uint64_t storms_ = 0;
  /// Rollouts by version that were sent, by client and path.
  std::map<std::string, std::deque<Nanoseconds>> versioned_{};
  Nanoseconds denied_until_ = 0;  ///< operators may have found that they may not read
  std::unique_ptr<CsiDriver> driver_;
  std::unique_ptr<Kubelet> kubelet_;
  std::unique_ptr<People> crowd_;
  std::unique_ptr<oracle::Rollouts> rollouts_;
  std::unique_ptr<Mirror> mirror_;
  std::unique_ptr<Ledger> ledger_;
};

/// Runs a simulation in a process of its own, which is forked here; a crash, or a run that takes
/// longer than `seconds` of a processor's time, is a problem, too. What the run tells of itself
/// when there is a problem, its timeline first, is written to standard output. Not from a
/// simulation.
RunResult RunForked(const RunOptions& options, int seconds);

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_WORLD_H_
