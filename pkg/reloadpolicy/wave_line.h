/// @file
/// Divides the workloads that a source concerns into waves.
#ifndef KUBEXX_RELOADPOLICY_WAVE_LINE_H_
#define KUBEXX_RELOADPOLICY_WAVE_LINE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/waves.h"

namespace kubexx::reloadpolicy {

/// A workload that takes part in waves.
struct WaveMember {
  ObjectRef workload{};
  int order = 0;
  bool is_canary = false;
  /// Its status shows whether it works with new data: it has pods, and its kind reports rollouts.
  bool tells = true;
};

/// The member that stands for a workload with these annotations and settings, which include waves.
WaveMember WaveMemberFor(const ObjectRef& workload, const Annotations& annotations,
                         const Effective& effective, Phase phase);

/// Whether `one` is rolled before `other`, or with it: canaries come first, then the workloads that
/// tell, then lower orders, then those that come first by kind and name. The same for all sources,
/// so that workloads of several sources never wait for each other.
bool ComesFirst(const WaveMember& one, const WaveMember& other);

/// The workloads that a source concerns, in the order in which they are rolled, divided into waves.
/// A value type.
class WaveLine {
 public:
  WaveLine(const Waves& waves, std::vector<WaveMember> members);

  /// The number of waves, without those that have no members; at least 1.
  std::size_t waves() const { return ends_.size(); }
  /// The wave of a workload, counted from 0. A workload that is not a member belongs to the last
  /// wave.
  std::size_t WaveOf(const ObjectRef& workload) const;
  /// All members, sorted by ComesFirst.
  const std::vector<WaveMember>& members() const { return members_; }
  /// The number of members that belong to earlier waves than `wave`.
  std::size_t MembersBefore(std::size_t wave) const { return wave == 0 ? 0 : ends_[wave - 1]; }
  /// Returns null when the workload is not a member.
  const WaveMember* Find(const ObjectRef& workload) const;

 private:
  std::vector<WaveMember> members_;
  std::map<ObjectRef, std::size_t> places_;  ///< in members_
  std::vector<std::size_t> ends_;            ///< of each wave, in members_
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_WAVE_LINE_H_
