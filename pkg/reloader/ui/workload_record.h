/// @file
/// What the page shows of a workload.
#ifndef KUBEXX_RELOADER_UI_WORKLOAD_RECORD_H_
#define KUBEXX_RELOADER_UI_WORKLOAD_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/history/history_view.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// The one thing that the page says first of a workload.
enum class PageState : std::uint8_t {
  kFailed,       ///< its last rollout has failed
  kRefused,      ///< a rollout is due, and will not be made until annotations change
  kHeld,         ///< a rollout is due, and a person has paused it
  kWaiting,      ///< a rollout is due, and waits
  kDue,          ///< a rollout is due, and may begin
  kRolling,      ///< pods are being replaced
  kPaused,       ///< spec.paused
  kUnavailable,  ///< not all of its pods are available
  kCurrent,      ///< it runs with the present data, as far as is recorded
  kNothing,      ///< no source rolls it
  kUnwatched,    ///< the operator does not watch it
};
/// "failed", "refused", "held" and so on.
std::string_view ToString(PageState state);

/// The state of a workload that `explanation` is about.
PageState PageStateOf(const Explanation& explanation, const Workload& workload);

/// Whether the record changes only when the workload, one of its sources or a policy does.
bool IsSettled(PageState state);

/// What of a digest is shown: the first 12 digits, as in histories.
std::string FirstDigits(std::string_view digest);

/// The record: one JSON object on one line. Contains no value of a source, and of digests the first
/// digits. Differs whenever WorkloadDetails do, also where it does not show the difference.
std::string WorkloadRecord(const Explanation& explanation, const Workload& workload,
                           const std::vector<reloadpolicy::PolicyId>& policies);

/// All that the page shows of one workload: {"explanation":..., "history":...}, as `explain` and
/// `history` show them, with shortened digests. Fails when one of the two is no JSON, which does
/// not happen.
apimachinery::Result<std::string> WorkloadDetails(const Explanation& explanation,
                                                  const WorkloadHistory& history);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_WORKLOAD_RECORD_H_
