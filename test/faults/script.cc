#include "faults/script.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace kubexx::faults {
namespace {

using std::chrono::milliseconds;

/// What one fault at a time may have.
enum class Lane : std::uint8_t { kNone, kProxy, kProcess, kCluster };

struct KnownFault {
  std::string_view name{};
  Lane lane = Lane::kNone;
  std::uint64_t weight = 0;        ///< where operators need no Lease
  std::uint64_t weight_of_ha = 0;  ///< where they do
  std::int64_t shortest = 0;       ///< milliseconds
  std::int64_t longest = 0;
  std::int64_t after = 0;  ///< what it needs to come up again, in milliseconds
};

// An API server takes about eight seconds until it serves, so that it is not often down. When the
// operator that leads is killed, nobody does for a quarter of a minute, and a fault comes three
// times a second: with more of these hardly a rollout would meet any other.
constexpr std::array<KnownFault, kFaultKinds> kKnownFaults = {{
    {"connections cut", Lane::kNone, 200, 230, 0, 0, 0},
    {"connections reset", Lane::kNone, 80, 110, 0, 0, 0},
    {"connections half-closed", Lane::kNone, 80, 110, 0, 0, 0},
    {"next connections broken", Lane::kNone, 100, 140, 0, 0, 0},
    {"connections stand still", Lane::kProxy, 80, 110, 500, 6000, 200},
    {"connections refused", Lane::kProxy, 80, 110, 300, 4000, 200},
    {"operator killed", Lane::kProcess, 50, 8, 0, 3000, 500},
    {"operator restarted (SIGTERM)", Lane::kProcess, 50, 50, 200, 3000, 500},
    {"operator stands still", Lane::kProcess, 60, 60, 200, 6000, 200},
    {"operator stands still for long", Lane::kProcess, 2, 3, 16000, 24000, 500},
    {"API server killed", Lane::kCluster, 5, 5, 0, 3000, 9000},
    {"API server restarted (SIGTERM)", Lane::kCluster, 3, 3, 1000, 4000, 9000},
    {"API server stands still", Lane::kCluster, 8, 8, 500, 6000, 500},
    {"etcd killed", Lane::kCluster, 6, 6, 0, 2000, 2000},
    {"etcd stands still", Lane::kCluster, 8, 8, 500, 4000, 500},
    {"etcd compacted", Lane::kCluster, 6, 6, 0, 0, 500},
    {"right lost: reading of Secrets", Lane::kCluster, 14, 14, 300, 4000, 200},
    {"right lost: watching", Lane::kCluster, 14, 14, 300, 4000, 200},
    {"right lost: patching", Lane::kCluster, 14, 14, 300, 4000, 200},
    {"right lost: patching in one namespace", Lane::kCluster, 14, 14, 300, 4000, 200},
    {"right lost: Leases", Lane::kCluster, 2, 12, 300, 4000, 200},
    {"rights lost: all", Lane::kCluster, 14, 14, 300, 4000, 200},
}};

const KnownFault& KnownOf(FaultKind kind) { return kKnownFaults[static_cast<std::size_t>(kind)]; }

FaultKind Choose(bool ha, oracle::Random& random) {
  const auto weight = [ha](const KnownFault& known) {
    return ha ? known.weight_of_ha : known.weight;
  };
  std::uint64_t sum = 0;
  for (const KnownFault& known : kKnownFaults) {
    sum += weight(known);
  }
  std::uint64_t left = random.Below(sum);
  std::size_t chosen = 0;
  while (left >= weight(kKnownFaults[chosen])) {
    left -= weight(kKnownFaults[chosen++]);
  }
  return static_cast<FaultKind>(chosen);
}

}  // namespace

std::string_view ToString(FaultKind kind) { return KnownOf(kind).name; }

Loss LossOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kSecretsRight:
      return Loss::kSecrets;
    case FaultKind::kWatchRight:
      return Loss::kWatch;
    case FaultKind::kPatchRight:
      return Loss::kPatch;
    case FaultKind::kNamespaceRight:
      return Loss::kNamespace;
    case FaultKind::kLeasesRight:
      return Loss::kLeases;
    case FaultKind::kAllRights:
      return Loss::kAll;
    default:
      return Loss::kNothing;
  }
}

std::vector<PlannedFault> PlanStorm(const StormSettings& settings, oracle::Random& random) {
  std::vector<PlannedFault> storm;
  std::map<std::pair<Lane, std::size_t>, milliseconds> free_at;
  milliseconds now(0);
  while (storm.size() < settings.faults) {
    now += milliseconds(random.Between(0, 2 * settings.pace.count()));
    PlannedFault fault;
    const KnownFault* known = nullptr;
    std::pair<Lane, std::size_t> lane;
    do {  // some kinds are never in the way of others
      fault = {.kind = Choose(settings.ha || settings.replicas > 1, random),
               .at = now,
               .replica = random.Below(settings.replicas + 1),
               .detail = random.Next()};
      known = &KnownOf(fault.kind);
      if (known->lane == Lane::kCluster) {
        fault.replica = settings.replicas;
      } else if (known->lane != Lane::kNone) {
        fault.replica %= settings.replicas;
      }
      fault.lasts = milliseconds(random.Between(known->shortest, known->longest));
      lane = {known->lane, fault.replica};
    } while (known->lane != Lane::kNone && free_at[lane] > now);
    free_at[lane] = now + fault.lasts + milliseconds(known->after);
    storm.push_back(fault);
  }
  return storm;
}

milliseconds EndOf(const std::vector<PlannedFault>& storm) {
  milliseconds end(0);
  for (const PlannedFault& fault : storm) {
    end = std::max(end, fault.at + fault.lasts);
  }
  return end;
}

}  // namespace kubexx::faults
