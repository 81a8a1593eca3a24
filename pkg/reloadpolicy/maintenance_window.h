/// @file
/// Times at which rollouts may begin.
#ifndef KUBEXX_RELOADPOLICY_MAINTENANCE_WINDOW_H_
#define KUBEXX_RELOADPOLICY_MAINTENANCE_WINDOW_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/cron.h"
#include "kubexx/reloadpolicy/time_zone.h"

namespace kubexx::reloadpolicy {

/// Opens by a schedule and stays open for a time. Where the schedule names hours of the day, a time
/// that clocks skip counts as the moment they go forward, and one that they show twice counts once,
/// the first time. A value type; thread-safe.
class MaintenanceWindow {
 public:
  /// `duration` between a minute and a week, in Go's syntax; `time_zone` an IANA name, "" for UTC.
  /// kInvalidConfig says which of the three is wrong.
  static apimachinery::Result<MaintenanceWindow> Parse(std::string_view schedule,
                                                       std::string_view duration,
                                                       std::string_view time_zone);
  /// "<schedule> <duration> [<time zone>]", separated by ';'. At most 16 of them.
  static apimachinery::Result<std::vector<MaintenanceWindow>> ParseList(std::string_view text);

  /// When it closes, if it is open at `now`.
  std::optional<base::WallTime> OpenUntil(base::WallTime now) const;
  /// The first opening after `now`; nothing for a schedule that never comes, such as February 30.
  std::optional<base::WallTime> NextOpening(base::WallTime now) const;
  /// How often it opens on a day on which it does: what a look at it costs goes by that.
  std::size_t OpeningsADay() const;
  bool operator==(const MaintenanceWindow&) const = default;

 private:
  std::vector<base::WallTime> OpeningsOn(std::chrono::local_days day) const;

  CronSchedule schedule_{};
  base::Duration duration_{};
  TimeZone zone_{};
};

/// How far ahead NextTogether looks: a leap day, or a year with its gaps, further on is as good as
/// never.
inline constexpr base::Duration kTogetherHorizon = std::chrono::hours(24 * 400);

/// What NextTogether has found.
struct Together {
  /// The first moment from then on at which one window of each is open; nothing when there is none,
  /// or of several none within kTogetherHorizon.
  std::optional<base::WallTime> at{};
  /// It has been looked for up to here only, since that took too long, and `at` is not known.
  std::optional<base::WallTime> not_before{};
};

/// When one window of each of `all` is open, from `now` on. Takes some tens of milliseconds at the
/// most, whatever the windows are. `all` holds no null.
Together NextTogether(std::span<const std::vector<MaintenanceWindow>* const> all,
                      base::WallTime now);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_MAINTENANCE_WINDOW_H_
