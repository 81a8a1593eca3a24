#include "kubexx/reloader/ui/open_times.h"

#include <algorithm>
#include <optional>

namespace kubexx::reloader {
namespace {

using reloadpolicy::MaintenanceWindow;

/// When the last of the windows closes that are open at `at`; std::nullopt when none is.
std::optional<base::WallTime> LastClosing(const std::vector<MaintenanceWindow>& windows,
                                          base::WallTime at) {
  std::optional<base::WallTime> last;
  for (const MaintenanceWindow& window : windows) {
    if (const auto until = window.OpenUntil(at); until && *until > at) {
      last = last ? std::max(*last, *until) : *until;
    }
  }
  return last;
}

std::optional<base::WallTime> FirstOpening(const std::vector<MaintenanceWindow>& windows,
                                           base::WallTime after) {
  std::optional<base::WallTime> first;
  for (const MaintenanceWindow& window : windows) {
    if (const auto opening = window.NextOpening(after)) {
      first = first ? std::min(*first, *opening) : *opening;
    }
  }
  return first;
}

}  // namespace

std::vector<OpenTime> OpenTimes(const std::vector<MaintenanceWindow>& windows, base::WallTime now,
                                base::WallTime end, std::size_t most) {
  std::vector<OpenTime> times;
  base::WallTime at = now;
  while (at < end && times.size() < most) {
    auto until = LastClosing(windows, at);
    if (!until) {
      const auto opening = FirstOpening(windows, at);
      if (!opening || *opening >= end) {
        break;
      }
      at = *opening;
      until = LastClosing(windows, at);
      if (!until) {
        break;  // a window is open at its opening
      }
    }
    if (!times.empty() && times.back().until == at) {
      times.back().until = *until;
    } else {
      times.push_back({at, *until});
    }
    at = *until;
  }
  return times;
}

}  // namespace kubexx::reloader
