#include "kubexx/reloadpolicy/maintenance_window.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/text/trim.h"
#include "kubexx/reloadpolicy/internal/quoted.h"

namespace kubexx::reloadpolicy {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::days;
using std::chrono::floor;

constexpr base::Duration kShortest = std::chrono::minutes(1);
constexpr base::Duration kLongest = std::chrono::hours(168);
constexpr std::size_t kMaxWindows = 16;
/// February 29 comes again after at most eight years.
constexpr int kSearchDays = 8 * 366 + 2;

std::string_view WithoutSpace(std::string_view text) { return base::Trim(text, " \t\r\n"); }

/// Returns the first `count` words and the rest.
std::pair<std::string_view, std::string_view> SplitWords(std::string_view text, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count && end < text.size(); ++i) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t", end), text.size());
    end = std::min(text.find_first_of(" \t", begin), text.size());
  }
  return {WithoutSpace(text.substr(0, end)), WithoutSpace(text.substr(end))};
}

}  // namespace

Result<MaintenanceWindow> MaintenanceWindow::Parse(std::string_view schedule,
                                                   std::string_view duration,
                                                   std::string_view time_zone) {
  MaintenanceWindow window;
  auto cron = CronSchedule::Parse(schedule);
  if (!cron) {
    return Fail(cron.error().WithContext("schedule"));
  }
  window.schedule_ = *cron;
  const auto length = apimachinery::Duration::Parse(duration);
  if (!length || base::Duration(length->nanos) < kShortest ||
      base::Duration(length->nanos) > kLongest) {
    return Fail(Reason::kInvalidConfig, "duration: " + internal::Quoted(duration) +
                                            " is not a duration between 1m and 168h");
  }
  window.duration_ = base::Duration(length->nanos);
  auto zone = TimeZone::Load(time_zone);
  if (!zone) {
    return Fail(zone.error().WithContext("timeZone"));
  }
  window.zone_ = *std::move(zone);
  // The search covers more than eight years, so whether a day matches does not depend on the year
  // in which it starts.
  if (!window.NextOpening(base::WallTime(days(20'000)))) {
    return Fail(Reason::kInvalidConfig, "schedule: " + internal::Quoted(schedule) + " never comes");
  }
  return window;
}

Result<std::vector<MaintenanceWindow>> MaintenanceWindow::ParseList(std::string_view text) {
  std::vector<MaintenanceWindow> windows;
  while (!WithoutSpace(text).empty()) {
    const std::size_t semicolon = text.find(';');
    const std::string_view item = WithoutSpace(text.substr(0, semicolon));
    text.remove_prefix(semicolon == std::string_view::npos ? text.size() : semicolon + 1);
    if (item.empty()) {
      continue;
    }
    if (windows.size() == kMaxWindows) {
      return Fail(Reason::kInvalidConfig, "more than 16 windows");
    }
    const auto [schedule, rest] = SplitWords(item, item.starts_with('@') ? 1 : 5);
    const auto [duration, zone] = SplitWords(rest, 1);
    KX_ASSIGN_OR_RETURN(MaintenanceWindow window, Parse(schedule, duration, zone));
    windows.push_back(std::move(window));
  }
  return windows;
}

std::vector<base::WallTime> MaintenanceWindow::OpeningsOn(std::chrono::local_days day) const {
  std::vector<base::WallTime> openings;
  if (!schedule_.MatchesDay(day)) {
    return openings;
  }
  for (const std::chrono::minutes minute : schedule_.MinutesOfDay()) {
    const Moments moments = zone_.FromLocal(day + minute);
    openings.push_back(moments.first);
    if (moments.twice && schedule_.every_hour()) {
      openings.push_back(moments.second);
    }
  }
  std::ranges::sort(openings);
  return openings;
}

std::optional<base::WallTime> MaintenanceWindow::OpenUntil(base::WallTime now) const {
  const auto last = floor<days>(zone_.ToLocal(now)) + days(1);
  const auto first = floor<days>(zone_.ToLocal(
                         now - std::chrono::duration_cast<base::WallTime::duration>(duration_))) -
                     days(1);
  for (auto day = last; day >= first; day -= days(1)) {
    const std::vector<base::WallTime> openings = OpeningsOn(day);
    // Of the openings that have come, the latest one closes last.
    const auto after = std::ranges::upper_bound(openings, now);
    if (after != openings.begin()) {
      const base::WallTime end =
          *std::prev(after) + std::chrono::duration_cast<base::WallTime::duration>(duration_);
      return end > now ? std::optional(end) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<base::WallTime> MaintenanceWindow::NextOpening(base::WallTime now) const {
  const auto first = floor<days>(zone_.ToLocal(now)) - days(1);
  for (int i = 0; i < kSearchDays; ++i) {
    const std::vector<base::WallTime> openings = OpeningsOn(first + days(i));
    if (const auto after = std::ranges::upper_bound(openings, now); after != openings.end()) {
      return *after;
    }
  }
  return std::nullopt;
}

std::size_t MaintenanceWindow::OpeningsADay() const { return schedule_.MinutesOfDay().size(); }

namespace {

/// Returns `now` when one of the windows is open then, and otherwise the time when the next one
/// opens.
std::optional<base::WallTime> OpenFrom(const std::vector<MaintenanceWindow>& windows,
                                       base::WallTime now) {
  std::optional<base::WallTime> next;
  for (const MaintenanceWindow& window : windows) {
    if (window.OpenUntil(now)) {
      return now;
    }
    if (const auto opening = window.NextOpening(now)) {
      next = std::min(next.value_or(*opening), *opening);
    }
  }
  return next;
}

/// The number of steps that OpenFrom may take.
std::size_t CostOf(const std::vector<MaintenanceWindow>& windows) {
  std::size_t cost = 0;
  for (const MaintenanceWindow& window : windows) {
    cost += 1 + window.OpeningsADay();
  }
  return cost;
}

}  // namespace

Together NextTogether(std::span<const std::vector<MaintenanceWindow>* const> all,
                      base::WallTime now) {
  // With this limit, windows that open once a day are searched to the end, and windows that open
  // each minute are searched for at least a day.
  constexpr std::size_t kMaxCost = 50'000;
  if (all.size() == 1) {
    return {.at = OpenFrom(*all.front(), now)};
  }
  std::size_t cost_of_all = 0;
  for (const auto* windows : all) {
    cost_of_all += CostOf(*windows);
  }
  const base::WallTime end =
      now + std::chrono::duration_cast<base::WallTime::duration>(kTogetherHorizon);
  for (std::size_t cost = cost_of_all; now <= end; cost += cost_of_all) {
    base::WallTime latest = now;
    for (const auto* windows : all) {
      const auto from = OpenFrom(*windows, now);
      if (!from) {
        return {};
      }
      latest = std::max(latest, *from);
    }
    if (latest == now) {
      return {.at = now};
    }
    now = latest;
    if (cost >= kMaxCost) {
      return {.not_before = now};
    }
  }
  return {};
}

}  // namespace kubexx::reloadpolicy
