/// @file
/// What a run came to.
#ifndef KUBEXX_TEST_FAULTS_TALLY_H_
#define KUBEXX_TEST_FAULTS_TALLY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "faults/crowd.h"
#include "faults/script.h"
#include "oracle/oracle.h"

namespace kubexx::faults {

/// Counts of a run, for its report.
struct Tally {
  struct OfKind {
    std::uint64_t count = 0;
    /// Rollouts while it lasted, and in the two seconds after.
    std::uint64_t rollouts = 0;
  };

  std::uint64_t seed = 0;
  std::size_t wanted = 0;  ///< faults
  std::map<FaultKind, OfKind> faults{};
  std::map<Deed, std::uint64_t> deeds{};
  oracle::Oracle::Counts counts{};
  std::chrono::seconds took{0};
  /// After each storm: until all pods had their data.
  std::vector<std::chrono::milliseconds> recoveries{};
  std::uint64_t restarts_in_peace = 0;  ///< of all operators, with nothing to do for them
  std::uint64_t ended_by_themselves = 0;
  std::uint64_t missing = 0;   ///< workloads that were not rolled, or have a wrong record
  std::uint64_t too_many = 0;  ///< workloads that were rolled without a reason
  std::vector<std::string> problems{};
  bool broken_off = false;

  std::uint64_t faults_done() const;
};

/// A page in Markdown; `date` as 2026-01-31.
std::string ReportOf(const Tally& tally, const std::string& date, const std::string& machine);

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_TALLY_H_
