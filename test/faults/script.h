/// @file
/// Which faults happen when.
#ifndef KUBEXX_TEST_FAULTS_SCRIPT_H_
#define KUBEXX_TEST_FAULTS_SCRIPT_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "faults/rights.h"
#include "oracle/random.h"

namespace kubexx::faults {

enum class FaultKind : std::uint8_t {
  // To the connections of one operator, or of all.
  kCut,
  kReset,
  kHalfClose,
  kBadConnections,  ///< the next ones are cut, stalled or half-closed at some byte
  kStall,
  kRefuse,
  // To one operator.
  kOperatorKill,
  kOperatorRestart,
  kOperatorPause,
  kOperatorLongPause,  ///< longer than a Lease lasts
  // To the API server and etcd.
  kServerKill,
  kServerRestart,
  kServerPause,
  kEtcdKill,
  kEtcdPause,
  kCompaction,
  // To rights.
  kSecretsRight,
  kWatchRight,
  kPatchRight,
  kNamespaceRight,
  kLeasesRight,
  kAllRights,
};
inline constexpr std::size_t kFaultKinds = 22;
std::string_view ToString(FaultKind kind);
/// What right a fault of rights takes.
Loss LossOf(FaultKind kind);

/// One fault.
struct PlannedFault {
  FaultKind kind = FaultKind::kCut;
  std::chrono::milliseconds at{0};     ///< from the beginning of the storm
  std::chrono::milliseconds lasts{0};  ///< zero: over at once
  std::size_t replica = 0;             ///< whom it meets; as many as there are: all
  std::uint64_t detail = 0;            ///< a number at random, for what else there is to choose
  bool operator==(const PlannedFault&) const = default;
};

/// What a storm is made for.
struct StormSettings {
  std::size_t faults = 0;
  std::chrono::milliseconds pace{0};  ///< mean time from one to the next
  std::size_t replicas = 1;
  /// Operators write only while they hold a Lease, also where there is one of them.
  bool ha = false;
};

/// `settings.faults` faults in the order of their times. None begins while another one lasts that
/// it would get in the way of, such as a restart of a server that is down.
std::vector<PlannedFault> PlanStorm(const StormSettings& settings, oracle::Random& random);

/// When the last of them is over.
std::chrono::milliseconds EndOf(const std::vector<PlannedFault>& storm);

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_SCRIPT_H_
