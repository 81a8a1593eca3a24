/// @file
/// The waves that are under way.
#ifndef KUBEXX_RELOADER_UI_WAVE_BOARD_H_
#define KUBEXX_RELOADER_UI_WAVE_BOARD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/wave_line.h"

namespace kubexx::reloader {

/// Knows which workloads roll in waves of which policy, and what each of them has still to do. Not
/// thread-safe.
class WaveBoard {
 public:
  /// Notes what is known of a workload that exists.
  void Note(const Workload& workload, const Explanation& explanation,
            const reloadpolicy::Effective& effective);
  /// The workload does not exist.
  void Forget(const WorkloadId& workload);

  /// For each policy with waves under way a JSON array with an object for each source that these
  /// are for: its kind, namespace, name and digest, and its waves, each with the numbers of its
  /// workloads that are done, rolling, failed and waiting, and the first workloads.
  std::map<reloadpolicy::PolicyId, codec::JsonTree> UnderWay() const;

 private:
  enum class Part : std::uint8_t { kDone, kRolling, kFailed, kWaiting };
  /// What one workload has to do with the present data of a source.
  struct Use {
    std::string digest{};
    Part part = Part::kDone;
    bool is_under_way = false;  ///< something happens, or has to, because of these data
  };
  struct Member {
    reloadpolicy::PolicyId policy{};
    reloadpolicy::Waves waves{};
    reloadpolicy::WaveMember member{};
    std::map<SourceId, Use> uses{};
  };
  static codec::JsonTree LineTree(const SourceId& source,
                                  const std::vector<const Member*>& members);

  std::map<WorkloadId, Member> members_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_WAVE_BOARD_H_
