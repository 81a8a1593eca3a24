/// @file
/// Maintenance windows: the times at which rollouts may begin.
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

/// A window that opens by a schedule and stays open for a duration. If the schedule names hours of
/// the day, clock changes matter: a local time that is skipped counts as the moment of the change,
/// and a local time that occurs twice counts only the first time. A value type; thread-safe.
class MaintenanceWindow {
 public:
  /// `duration` is in Go's syntax, from a minute to a week; `time_zone` is an IANA name, or "" for
  /// UTC. Fails with kInvalidConfig, which says which of the three is wrong.
  static apimachinery::Result<MaintenanceWindow> Parse(std::string_view schedule,
                                                       std::string_view duration,
                                                       std::string_view time_zone);
  /// Reads up to 16 windows, separated by ';', each of the form "<schedule> <duration> [<time
  /// zone>]".
  static apimachinery::Result<std::vector<MaintenanceWindow>> ParseList(std::string_view text);

  /// When the window closes, if it is open at `now`; std::nullopt otherwise.
  std::optional<base::WallTime> OpenUntil(base::WallTime now) const;
  /// The first opening after `now`; std::nullopt for a schedule that never matches, such as
  /// February 30.
  std::optional<base::WallTime> NextOpening(base::WallTime now) const;
  /// How often the window opens on a day that matches. The other functions take time in proportion
  /// to it.
  std::size_t OpeningsADay() const;
  bool operator==(const MaintenanceWindow&) const = default;

 private:
  std::vector<base::WallTime> OpeningsOn(std::chrono::local_days day) const;

  CronSchedule schedule_{};
  base::Duration duration_{};
  TimeZone zone_{};
};

/// How far ahead NextTogether searches. A common opening later than that, such as one on a leap
/// day, is reported as none.
inline constexpr base::Duration kTogetherHorizon = std::chrono::hours(24 * 400);

/// The result of NextTogether.
struct Together {
  /// The first moment, `now` or later, at which one window of each list is open; std::nullopt when
  /// there is none, with several lists none within kTogetherHorizon.
  std::optional<base::WallTime> at{};
  /// The search took too long and stopped here: `at` is unknown, and not before this time.
  std::optional<base::WallTime> not_before{};
};

/// Finds the first moment, from `now` on, at which at least one window of each list in `all` is
/// open. Takes at most some tens of milliseconds, whatever the windows are. `all` contains no null.
Together NextTogether(std::span<const std::vector<MaintenanceWindow>* const> all,
                      base::WallTime now);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_MAINTENANCE_WINDOW_H_
