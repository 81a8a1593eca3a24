/// @file
/// When maintenance windows are open, for a time line.
#ifndef KUBEXX_RELOADER_UI_OPEN_TIMES_H_
#define KUBEXX_RELOADER_UI_OPEN_TIMES_H_

#include <cstddef>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/maintenance_window.h"

namespace kubexx::reloader {

/// A time in which at least one window is open, without a break.
struct OpenTime {
  base::WallTime from{};
  base::WallTime until{};
  bool operator==(const OpenTime&) const = default;
};

/// The first `most` times from `now` on, until `end`, in which a window is open. The first begins
/// at `now` when one is open already; the last may end after `end`.
std::vector<OpenTime> OpenTimes(const std::vector<reloadpolicy::MaintenanceWindow>& windows,
                                base::WallTime now, base::WallTime end, std::size_t most);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_OPEN_TIMES_H_
