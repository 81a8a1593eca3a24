#include "kubexx/reloadpolicy/wave_line.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

WaveMember WaveMemberFor(const ObjectRef& workload, const Annotations& annotations,
                         const Effective& effective, Phase phase) {
  const auto own = annotations.find(std::string(kCanaryAnnotation));
  bool is_canary = own != annotations.end() && own->second == "true";
  if (effective.waves && !is_canary) {
    is_canary = std::ranges::any_of(
        effective.waves->value.canaries,
        [&](const std::string& pattern) { return MatchesWorkload(pattern, workload); });
  }
  return {.workload = workload,
          .order = effective.Order(),
          .is_canary = is_canary,
          .tells = HasRollouts(workload.kind) && phase != Phase::kWithoutPods};
}

bool ComesFirst(const WaveMember& one, const WaveMember& other) {
  const auto key = [](const WaveMember& member) {
    return std::tuple(!member.is_canary, !member.tells, member.order,
                      std::tie(member.workload.kind, member.workload.key));
  };
  return key(one) < key(other);
}

WaveLine::WaveLine(const Waves& waves, std::vector<WaveMember> members)
    : members_(std::move(members)) {
  std::ranges::sort(members_, ComesFirst);
  const auto count = [&](auto is_one) {
    return static_cast<std::size_t>(std::ranges::count_if(members_, is_one));
  };
  const std::size_t canaries = count([](const WaveMember& each) { return each.is_canary; });
  const std::size_t tell =
      count([](const WaveMember& each) { return each.is_canary || each.tells; });
  for (std::size_t i = 0; i < members_.size(); ++i) {
    places_[members_[i].workload] = i;
  }
  std::size_t end = canaries;
  const auto add = [&](std::size_t next) {
    if (next > (ends_.empty() ? 0 : ends_.back())) {
      ends_.push_back(next);
    }
  };
  add(end);
  for (const WaveSize& size : waves.sizes) {
    const std::size_t part =
        (members_.size() * static_cast<std::size_t>(size.percent) + 99) / 100;  // rounded up
    // Those that tell nothing are in no wave but the last.
    end = std::min(end + std::max(static_cast<std::size_t>(size.count), part), tell);
    add(end);
  }
  add(members_.size());
  if (ends_.empty()) {
    ends_.push_back(0);
  }
}

std::size_t WaveLine::WaveOf(const ObjectRef& workload) const {
  const auto found = places_.find(workload);
  if (found == places_.end()) {
    return ends_.size() - 1;
  }
  return static_cast<std::size_t>(std::ranges::upper_bound(ends_, found->second) - ends_.begin());
}

const WaveMember* WaveLine::Find(const ObjectRef& workload) const {
  const auto found = places_.find(workload);
  return found == places_.end() ? nullptr : &members_[found->second];
}

}  // namespace kubexx::reloadpolicy
