/// @file
/// What many runs of a simulation met together.
#ifndef KUBEXX_TEST_SIMULATION_TALLY_H_
#define KUBEXX_TEST_SIMULATION_TALLY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "world.h"

namespace kubexx::simulation {

/// A run that has ended.
struct RunRecord {
  /// Of the source that the program was built of; empty: nobody has said it.
  std::string revision{};
  std::uint64_t seed = 1;
  /// That were asked for. With more than twelve most of the run is calm.
  double hours = 0;
  RunResult result{};

  bool failed() const { return result.problem[0] != '\0'; }
};

/// One line of JSON with all that a Tally and a page of results need, without a line's end.
std::string ToLine(const RunRecord& record);
/// Reads what ToLine has written. kMalformed for any other text.
apimachinery::Result<RunRecord> RecordFrom(const std::string& line);

/// Runs that have ended, and their sum.
struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t problems = 0;
  RunResult all{};

  void Add(const RunResult& result);
};

/// What `simulate` tells at the end; `seconds`: of real time that these runs took.
std::string Summary(const Tally& tally, double seconds);

/// A page in Markdown about these runs, at least one.
std::string PageOf(const std::vector<RunRecord>& records);

/// The command that repeats the run.
std::string CommandOf(std::uint64_t seed, double hours, const Without& without);

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_TALLY_H_
