#include "kubexx/reloadpolicy/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kubexx/reloadpolicy/internal/quoted.h"

namespace kubexx::reloadpolicy {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using internal::Quoted;

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMacros{{
    {"@hourly", "0 * * * *"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"},
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
}};

struct Field {
  std::string_view name;
  unsigned low;
  unsigned high;
  std::span<const std::string_view> names;  // the names of low, low + 1, ...
};

apimachinery::Error Bad(const Field& field, std::string_view item, const std::string& what) {
  return Fail(Reason::kInvalidConfig,
              "the " + std::string(field.name) + " field: " + Quoted(item) + " " + what);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

std::optional<unsigned> Number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > 4 || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

Result<unsigned> Value(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (EqualsIgnoringCase(text, field.names[i])) {
      return field.low + static_cast<unsigned>(i);
    }
  }
  const auto number = Number(text);
  if (!number) {
    return Bad(field, text, "is not a number");
  }
  if (*number < field.low || *number > field.high) {
    return Bad(
        field, text,
        "is not between " + std::to_string(field.low) + " and " + std::to_string(field.high));
  }
  return *number;
}

Result<std::uint64_t> ParseItem(const Field& field, std::string_view item) {
  const std::size_t slash = item.find('/');
  const std::string_view range = item.substr(0, slash);
  unsigned step = 1;
  if (slash != std::string_view::npos) {
    const auto given = Number(item.substr(slash + 1));
    if (!given || *given == 0) {
      return Bad(field, item, "has a step that is not a positive number");
    }
    step = *given;
  }
  unsigned low = field.low;
  // Sunday may be written as 7, but is not the last day of a step: a step counts from Sunday as 0
  // to Saturday.
  const unsigned last = field.names.data() == kWeekdays.data() ? 6 : field.high;
  unsigned high = last;
  if (range != "*") {
    const std::size_t dash = range.find('-');
    KX_ASSIGN_OR_RETURN(low, Value(field, range.substr(0, dash)));
    if (dash != std::string_view::npos) {
      KX_ASSIGN_OR_RETURN(high, Value(field, range.substr(dash + 1)));
    } else {
      high = slash == std::string_view::npos ? low : std::max(low, last);
    }
    if (low > high) {
      return Bad(field, item, "is a range that ends before it begins");
    }
  }
  std::uint64_t bits = 0;
  for (unsigned value = low; value <= high; value += step) {
    bits |= std::uint64_t{1} << value;
  }
  return bits;
}

Result<std::uint64_t> ParseField(const Field& field, std::string_view text) {
  std::uint64_t bits = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    KX_ASSIGN_OR_RETURN(const std::uint64_t item, ParseItem(field, text.substr(0, comma)));
    bits |= item;
    if (comma == std::string_view::npos) {
      return bits;
    }
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> words;
  std::size_t begin = text.find_first_not_of(kSpace);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpace, end);
  }
  return words;
}

}  // namespace

Result<CronSchedule> CronSchedule::Parse(std::string_view text) {
  if (text.size() > 256) {
    return Fail(Reason::kInvalidConfig, "the schedule is longer than 256 characters");
  }
  std::vector<std::string_view> words = Words(text);
  if (words.size() == 1 && words[0].starts_with('@')) {
    const auto macro = std::ranges::find_if(
        kMacros, [&](const auto& each) { return EqualsIgnoringCase(words[0], each.first); });
    if (macro == kMacros.end()) {
      return Fail(Reason::kInvalidConfig, Quoted(words[0]) + " is not a schedule");
    }
    words = Words(macro->second);
  }
  if (words.size() != 5) {
    return Fail(Reason::kInvalidConfig,
                Quoted(text) + " has " + std::to_string(words.size()) +
                    " fields; give five: minute, hour, day of month, month, day of week");
  }
  CronSchedule schedule;
  KX_ASSIGN_OR_RETURN(schedule.minutes_, ParseField({"minute", 0, 59, {}}, words[0]));
  KX_ASSIGN_OR_RETURN(schedule.hours_, ParseField({"hour", 0, 23, {}}, words[1]));
  KX_ASSIGN_OR_RETURN(schedule.days_, ParseField({"day of month", 1, 31, {}}, words[2]));
  KX_ASSIGN_OR_RETURN(schedule.months_, ParseField({"month", 1, 12, kMonths}, words[3]));
  KX_ASSIGN_OR_RETURN(schedule.weekdays_, ParseField({"day of week", 0, 7, kWeekdays}, words[4]));
  schedule.weekdays_ |= (schedule.weekdays_ >> 7) & 1;  // 7 means Sunday, as 0 does
  schedule.every_hour_ = words[1].starts_with('*');
  schedule.any_day_ = words[2].starts_with('*');
  schedule.any_weekday_ = words[4].starts_with('*');
  return schedule;
}

bool CronSchedule::MatchesDay(std::chrono::local_days day) const {
  const std::chrono::year_month_day date(day);
  const auto has = [](std::uint64_t bits, unsigned value) { return ((bits >> value) & 1) != 0; };
  if (!has(months_, static_cast<unsigned>(date.month()))) {
    return false;
  }
  const bool by_day = has(days_, static_cast<unsigned>(date.day()));
  const bool by_weekday = has(weekdays_, std::chrono::weekday(day).c_encoding());
  return any_day_ || any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

std::vector<std::chrono::minutes> CronSchedule::MinutesOfDay() const {
  std::vector<std::chrono::minutes> result;
  for (int hour = 0; hour < 24; ++hour) {
    for (int minute = 0; minute < 60; ++minute) {
      if (((hours_ >> hour) & (minutes_ >> minute) & 1) != 0) {
        result.emplace_back(hour * 60 + minute);
      }
    }
  }
  return result;
}

}  // namespace kubexx::reloadpolicy
