/// @file
/// Many runs of a simulation, several at a time.
#ifndef KUBEXX_TEST_SIMULATION_CAMPAIGN_H_
#define KUBEXX_TEST_SIMULATION_CAMPAIGN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "tally.h"
#include "without.h"
#include "world.h"

namespace kubexx::simulation {

/// What `simulate` is asked for.
struct Settings {
  std::int64_t seed = 1;
  std::int64_t seeds = 1;
  std::int64_t hours = 1;
  std::int64_t minutes = 0;  ///< instead of hours
  std::int64_t jobs = 0;
  std::int64_t seconds = 120;  ///< of a processor's time, for each run
  bool show = false;
  bool keep_going = false;
  bool shrink = false;
  std::string without_names{};
  Without without{};
  /// Each run's result is added to this file, and what it has of the same revision is not run
  /// again; empty: none.
  std::string results{};
  /// A page is written there; empty: none.
  std::string report{};
  std::string revision{};
};

/// The records in a file of results, none where there is no file. Takes away a last line without an
/// end, as a process leaves it that is killed, so that others can be added. An error names the line
/// that is no record.
apimachinery::Result<std::vector<RunRecord>> OpenResults(const std::string& file);

/// Runs what was asked for, each in a process of its own, and tells of it on standard output, of
/// how far it is on standard error. The program's exit status.
int RunCampaign(Settings settings);

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_CAMPAIGN_H_
