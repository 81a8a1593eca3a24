/// @file
/// A run: storms of faults, and what is checked after each.
#ifndef KUBEXX_TEST_FAULTS_RUN_H_
#define KUBEXX_TEST_FAULTS_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "faults/admin.h"
#include "faults/cluster.h"
#include "faults/crowd.h"
#include "faults/player.h"
#include "faults/replica.h"
#include "faults/rights.h"
#include "faults/script.h"
#include "faults/story.h"
#include "faults/tally.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/rollouts.h"

namespace kubexx::faults {

struct RunOptions {
  std::uint64_t seed = 1;
  std::size_t faults = 10000;
  std::size_t faults_of_storm = 300;
  std::chrono::milliseconds pace{360};  ///< from one fault to the next
  bool keep_going = false;              ///< after a problem, too
  std::string operator_program{};
  std::string folder{};  ///< for logs; exists
  Cluster::Settings cluster{};
};

/// One run. Not thread-safe; all on one thread, which stays.
class Run {
 public:
  Run(RunOptions options, std::stop_token stop);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// To the end, the first problem, or a stop. An error when there is nothing to run on.
  apimachinery::Result<void> Go();
  /// What it has come to so far.
  Tally Summary();

 private:
  /// A fault whose rollouts are still counted.
  struct Window {
    FaultKind kind = FaultKind::kCut;
    std::uint64_t rollouts_before = 0;
    base::TimePoint end{};
  };

  apimachinery::Result<void> Begin();
  void Fail(const std::string& problem);
  bool goes_on() const;
  void Tell(std::string_view who, std::string_view what) const { story_.Add(who, what); }

  /// Ends all operators, and starts others: how many, and with which flags, is new each time.
  void Reconfigure();
  /// Operators that have begun find that all is well, and do nothing.
  void CheckPeace();
  apimachinery::Result<void> Storm(std::size_t faults);
  void Play(const std::vector<PlannedFault>& storm);
  /// Until all pods have their data.
  void CheckQuiet();
  /// Until `found` finds nothing for some time; what it found when there is no end of it. How long
  /// it took is in `took`.
  std::optional<std::string> AwaitNothing(const std::function<std::optional<std::string>()>& found,
                                          base::Duration calm, base::Duration limit,
                                          std::chrono::milliseconds& took);
  void CheckTooMany();
  /// No value of a Secret is in a log.
  void CheckLogs();
  void SleepUntil(base::TimePoint time);
  /// What is to be done now and then while this waits.
  void Tick();
  void ShowProgress(base::TimePoint now);
  base::TimePoint Now() const { return base::Clock::Real().Now(); }

  const RunOptions options_;
  const std::stop_token stop_;
  oracle::Random random_;
  const Story story_;
  const base::TimePoint begin_;
  base::TimePoint next_progress_;
  std::string doing_ = "begins";
  Tally tally_{};
  std::list<Window> windows_{};
  Cluster cluster_;
  std::unique_ptr<apiserver::storage::Storage> storage_;
  std::unique_ptr<oracle::Oracle> oracle_;
  std::optional<Admin> admin_;
  std::optional<Rights> rights_;
  std::unique_ptr<Crowd> crowd_;
  std::unique_ptr<oracle::Rollouts> rollouts_;
  std::vector<std::unique_ptr<Replica>> replicas_{};
  std::size_t running_ = 0;  ///< of these, the first ones
  bool is_ha_ = false;       ///< those that run need Leases
  std::optional<Player> player_;
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_RUN_H_
