// What an Oracle makes of waves: which rollouts have to wait for others.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "kubexx/base/mutex.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

/// What the key "deployments/ns/name" of a workload consists of.
struct KeyParts {
  std::string_view plural{};
  std::string_view space{};
  std::string_view name{};
};

KeyParts PartsOf(std::string_view key) {
  const std::size_t space = key.find('/') + 1;
  const std::size_t name = key.find('/', space) + 1;
  return {.plural = key.substr(0, space - 1),
          .space = key.substr(space, name - 1 - space),
          .name = key.substr(name)};
}

/// Whether its status shows how its rollouts go.
bool Tells(const KeyParts& parts) { return parts.plural != "jobs" && parts.plural != "cronjobs"; }

/// Whether the first is in an earlier wave than the second, if both are in the line of a source.
bool GoesBefore(const KeyParts& first, const KeyParts& second, std::string_view canary) {
  const auto place = [canary](const KeyParts& parts) {
    return std::tuple(parts.name != canary, !Tells(parts), parts.plural, parts.name);
  };
  return Tells(first) && place(first) < place(second);
}

/// Whether nobody waits for it: nothing is due for it, or operators may not know what is.
bool IsPassedOver(const ObservedWorkload& workload) {
  return !workload.base.empty() || workload.baseline.empty() || workload.is_opted_out ||
         workload.is_on_hold || workload.was_asked_for || workload.is_unrecorded ||
         workload.is_paused || workload.is_held || workload.awaits_resume || workload.is_restored;
}

}  // namespace

void Oracle::SetWaves(Waves waves) {
  const base::MutexLock lock(mu_);
  waves_ = std::move(waves);
  for (auto& [key, workload] : workloads_) {
    workload.proven.clear();
    ProveLocked(key, workload);
  }
}

void Oracle::IgnoreWaveTimes() {
  const base::MutexLock lock(mu_);
  waves_.healthy_for = {};
}

void Oracle::ProveLocked(const std::string& key, ObservedWorkload& workload) {
  if (!waves_.spaces.contains(std::string(PartsOf(key).space))) {
    return;
  }
  for (const auto& [source, data] : workload.read) {
    if (data && !HasFailedWith(workload.rolled_data, workload.uid, source, *data)) {
      workload.proven[source].insert(*data);
    }
  }
}

void Oracle::ProveHealthyLocked(const std::string& key, ObservedWorkload& workload) {
  if (workload.healthy_since && options_.now() - *workload.healthy_since >= waves_.healthy_for) {
    ProveLocked(key, workload);
  }
}

std::string Oracle::TooEarlyLocked(const std::string& key, const ObservedWorkload& workload,
                                   const ObservedWorkload& before) const {
  const KeyParts parts = PartsOf(key);
  if (!waves_.spaces.contains(std::string(parts.space))) {
    return "";
  }
  for (const auto& [source, unread] : workload.read) {
    const auto now = data_.find(source);
    const auto had = before.read.find(source);
    // What a rollout for other data brings along, nobody has asked for. Data that were put back
    // need no canary.
    if (now == data_.end() || IsProviderClass(source) || IsPutBackLocked(source) ||
        !IsRecordedLocked(workload, source) ||
        (had != before.read.end() && had->second == now->second)) {
      continue;
    }
    for (const auto& [other, earlier] : workloads_) {
      const KeyParts others = PartsOf(other);
      if (others.space != parts.space || !GoesBefore(others, parts, waves_.canary) ||
          !earlier.read.contains(source) || !earlier.read.at(source) || IsPassedOver(earlier)) {
        continue;
      }
      if (HasFailedWith(earlier.rolled_data, earlier.uid, source, now->second)) {
        return "for " + source + " " + now->second + ", with which " + other + " has failed";
      }
      const auto proven = earlier.proven.find(source);
      const bool is_healthy = earlier.healthy_since &&
                              options_.now() - *earlier.healthy_since >= waves_.healthy_for &&
                              earlier.read.at(source) == now->second;
      if (!is_healthy &&
          (proven == earlier.proven.end() || !proven->second.contains(now->second))) {
        return "for " + source + " " + now->second + ", with which " + other +
               " of an earlier wave has not been healthy for long enough";
      }
    }
  }
  return "";
}

}  // namespace kubexx::oracle
