/// @file
/// Schedules in cron's syntax.
#ifndef KUBEXX_RELOADPOLICY_CRON_H_
#define KUBEXX_RELOADPOLICY_CRON_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloadpolicy {

/// A schedule with the fields minutes, hours, days of the month, months and days of the week, as
/// Vixie cron reads them. A field may hold lists of numbers, ranges and steps; months and days of
/// the week may be names (three letters, any case); Sunday is 0 or 7. If neither of the two day
/// fields begins with "*", a day matches when it is in one of them; otherwise it must be in both.
/// "5/10" means every 10th from 5 to the end. Also accepts \@hourly, \@daily, \@midnight, \@weekly,
/// \@monthly, \@yearly and \@annually. A value type.
class CronSchedule {
 public:
  /// Fails with kInvalidConfig, which names the wrong field and what is wrong with it.
  static apimachinery::Result<CronSchedule> Parse(std::string_view text);

  bool MatchesDay(std::chrono::local_days day) const;
  /// The matching minutes of a day, counted from midnight and sorted.
  std::vector<std::chrono::minutes> MinutesOfDay() const;
  /// Whether the hours field begins with "*". Such a schedule means hours that pass, not times of
  /// day; that matters when clocks change.
  bool every_hour() const { return every_hour_; }
  bool operator==(const CronSchedule&) const = default;

 private:
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool every_hour_ = false;
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_CRON_H_
