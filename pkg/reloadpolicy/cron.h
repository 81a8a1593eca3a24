/// @file
/// Cron's schedules.
#ifndef KUBEXX_RELOADPOLICY_CRON_H_
#define KUBEXX_RELOADPOLICY_CRON_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloadpolicy {

/// Minutes, hours, days of the month, months and days of the week, as Vixie cron reads them: lists
/// of numbers, ranges and steps; names of months and days (three letters, any case); Sunday is 0
/// or 7. When neither field of days begins with "*" a day matches that is in one of them, otherwise
/// it must be in both. "5/10" is 5 to the end in steps of 10. Also \@hourly, \@daily, \@midnight,
/// \@weekly, \@monthly, \@yearly and \@annually. A value type.
class CronSchedule {
 public:
  /// kInvalidConfig names the field and what is wrong with it.
  static apimachinery::Result<CronSchedule> Parse(std::string_view text);

  bool MatchesDay(std::chrono::local_days day) const;
  /// The minutes of a day that match, ascending, counted from midnight.
  std::vector<std::chrono::minutes> MinutesOfDay() const;
  /// Whether the field of hours begins with "*": then it is about hours that pass, not about the
  /// time of day.
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
