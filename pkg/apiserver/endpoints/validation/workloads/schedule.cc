#include "kubexx/apiserver/endpoints/validation/workloads/schedule.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/validation/workloads/time_zones.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

struct ScheduleField {
  int low;
  int high;
  std::string_view names;  ///< of the first, the second...: three letters each
};

constexpr ScheduleField kScheduleFields[] = {{0, 59, ""},
                                             {0, 23, ""},
                                             {1, 31, ""},
                                             {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                                             {0, 6, "sunmontuewedthufrisat"}};

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

/// Splits the text at white space, of which Go accepts every kind.
std::vector<std::string_view> FieldsOf(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) {
      return fields;
    }
    text.remove_prefix(begin);
    fields.push_back(text.substr(0, text.find_first_of(kSpace)));
    text.remove_prefix(fields.back().size());
  }
}

std::optional<int> ValueOf(std::string_view text, const ScheduleField& field) {
  if (text.size() == 3 && !field.names.empty()) {
    const std::size_t at = field.names.find(base::ToLower(text));
    if (at != std::string_view::npos && at % 3 == 0) {
      return field.low + static_cast<int>(at / 3);
    }
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0
             ? std::optional(value)
             : std::nullopt;
}

/// Checks "*", "1" or "1-5", each of which may end with "/2".
std::string RangeProblem(std::string_view range, const ScheduleField& field) {
  const std::vector<std::string_view> steps = SplitAt(range, '/');
  const std::vector<std::string_view> ends = SplitAt(steps.front(), '-');
  const std::string quoted(range);
  if (steps.size() > 2) {
    return "too many slashes: " + quoted;
  }
  if (ends.size() > 2) {
    return "too many hyphens: " + quoted;
  }
  if (steps.size() == 2) {
    const auto step = ValueOf(steps[1], {.low = 0, .high = 0, .names = ""});
    if (!step || *step == 0) {
      return "step of range should be a positive number: " + quoted;
    }
  }
  if (ends.size() == 1 && (ends.front() == "*" || ends.front() == "?")) {
    return {};
  }
  const auto low = ValueOf(ends.front(), field);
  const auto high = ValueOf(ends.back(), field);
  if (!low || !high) {
    return "failed to parse int from " + std::string(low ? ends.back() : ends.front());
  }
  if (*low < field.low) {
    return "beginning of range (" + std::to_string(*low) + ") below minimum (" +
           std::to_string(field.low) + "): " + quoted;
  }
  if (*high > field.high) {
    return "end of range (" + std::to_string(*high) + ") above maximum (" +
           std::to_string(field.high) + "): " + quoted;
  }
  return *low > *high ? "beginning of range (" + std::to_string(*low) + ") beyond end of range (" +
                            std::to_string(*high) + "): " + quoted
                      : std::string();
}

}  // namespace

std::string ScheduleProblem(std::string_view schedule) {
  constexpr std::string_view kMacros[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                          "@daily",  "@midnight", "@hourly"};
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    const std::size_t end = std::min(schedule.find(' '), schedule.size());
    const std::size_t begin = schedule.find('=') + 1;
    // Go accepts a zone without a name.
    if (const std::string_view zone = schedule.substr(begin, end - begin); !zone.empty()) {
      if (std::string problem = TimeZoneProblem(zone); !problem.empty()) {
        return problem;
      }
    }
    schedule.remove_prefix(end);
  }
  if (schedule.starts_with('@')) {
    for (const std::string_view macro : kMacros) {
      if (schedule == macro) {
        return {};
      }
    }
    constexpr std::string_view kEvery = "@every ";
    if (!schedule.starts_with(kEvery)) {
      return "unrecognized descriptor: " + std::string(schedule);
    }
    return apimachinery::Duration::Parse(schedule.substr(kEvery.size()))
               ? ""
               : "failed to parse duration " + std::string(schedule);
  }
  const std::vector<std::string_view> fields = FieldsOf(schedule);
  if (fields.size() != std::size(kScheduleFields)) {
    std::string found;
    for (const std::string_view field : fields) {
      found += (found.empty() ? "" : " ") + std::string(field);
    }
    return "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" + found +
           "]";
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::string_view range : SplitAt(fields[i], ',')) {
      if (std::string problem = RangeProblem(range, kScheduleFields[i]); !problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
