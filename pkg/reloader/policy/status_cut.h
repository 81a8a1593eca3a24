/// @file
/// Leaves out of the status of a policy what CRDs of an older version refuse.
#ifndef KUBEXX_RELOADER_POLICY_STATUS_CUT_H_
#define KUBEXX_RELOADER_POLICY_STATUS_CUT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// What is left out.
enum class StatusCut : std::uint8_t {
  kNothing,
  kLongData,     ///< of each failed wave, all versions of data beyond kMostDataInOlderCrds
  kFailedWaves,  ///< all failed waves
};

/// Of `status.failedWaves[].data`; the CRDs allow more by now.
inline constexpr std::size_t kMostDataInOlderCrds = 32;

/// What is left out, in words for the log. kNothing gives "nothing".
constexpr std::string_view LeftOut(StatusCut cut) {
  switch (cut) {
    case StatusCut::kNothing:
      break;
    case StatusCut::kLongData:
      return "versions of data in status.failedWaves, beyond 32 of each workload";
    case StatusCut::kFailedWaves:
      return "status.failedWaves: another process does not learn that they have failed";
  }
  return "nothing";
}

/// The status without what is left out. S is the status of a ReloadPolicy or a ClusterReloadPolicy.
/// A list stays that is empty then, so that a patch with it leaves nothing of an earlier one. Pure.
template <class S>
S CutStatus(S status, StatusCut cut) {
  if (cut == StatusCut::kNothing || !status.failed_waves) {
    return status;
  }
  if (cut == StatusCut::kFailedWaves) {
    status.failed_waves->clear();
    return status;
  }
  for (auto& item : *status.failed_waves) {
    if (item.data.size() > kMostDataInOlderCrds) {
      item.data.resize(kMostDataInOlderCrds);
    }
  }
  return status;
}

/// Returns the first cut with which `write` takes `whole`, if there is one. It gets no status that
/// is `refused`. `write` (`Result<void>(const S&)`) may fail for other reasons, which say nothing
/// of what the server would take: only after kInvalid more is cut.
template <class S, class Write>
std::optional<StatusCut> LeastCut(const S& whole, const S& refused, const Write& write) {
  for (const StatusCut cut : {StatusCut::kLongData, StatusCut::kFailedWaves}) {
    const S shorter = CutStatus(whole, cut);
    if (shorter == refused) {
      continue;
    }
    const apimachinery::Result<void> written = write(shorter);
    if (written) {
      return cut;
    }
    if (written.error().reason != apimachinery::Reason::kInvalid) {
      break;
    }
  }
  return std::nullopt;
}

/// What of the statuses of policies is left out at present. For one thread.
class StatusCuts {
 public:
  /// After kFor the whole status is to be tried again, since CRDs may have been replaced.
  static constexpr base::Duration kFor = std::chrono::minutes(10);

  StatusCut At(const reloadpolicy::PolicyId& policy, base::TimePoint now) const {
    const auto found = cuts_.find(policy);
    return found != cuts_.end() && now < found->second.until ? found->second.cut
                                                             : StatusCut::kNothing;
  }
  /// The API server refuses more than this with `error`; another cut than the last is logged.
  void Note(const reloadpolicy::PolicyId& policy, StatusCut cut, base::TimePoint now,
            const std::string& error) {
    Cut& known = cuts_[policy];
    known.until = now + kFor;
    if (std::exchange(known.cut, cut) != cut) {
      logging::Warning(
          "The API server refuses the whole status of a policy; perhaps the CRDs are older than "
          "the operator: apply the CRDs of its version",
          {{"policy", policy.ToString()}, {"left_out", LeftOut(cut)}, {"error", error}});
    }
  }
  /// Forgets the policies for whose entries this is true.
  template <class Predicate>
  void EraseIf(const Predicate& predicate) {
    std::erase_if(cuts_, predicate);
  }

 private:
  struct Cut {
    StatusCut cut = StatusCut::kNothing;
    base::TimePoint until{};
  };
  std::map<reloadpolicy::PolicyId, Cut> cuts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_STATUS_CUT_H_
