#include "kubexx/apimachinery/time.h"

#include <array>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/internal/text_cursor.h"

namespace kubexx::apimachinery {
namespace {

using internal::TextCursor;

constexpr std::int64_t kSecondsPerDay = 86400;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

struct Civil {
  std::int64_t year = 0;
  std::int64_t month = 0;  // 1..12
  std::int64_t day = 0;    // 1..31
};

struct Instant {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in 400-year eras that begin on
// March 1st so that the leap day is the last day of a year.
std::int64_t DaysFromCivil(const Civil& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

Civil CivilFromDays(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

std::int64_t DaysInMonth(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

void AppendPadded(std::int64_t value, std::size_t width, std::string& out) {
  if (value < 0) {
    out += '-';
  }
  const std::string digits = std::to_string(value < 0 ? -value : value);
  out.append(digits.size() < width ? width - digits.size() : 0, '0');
  out += digits;
}

// "2006-01-02T15:04:05".
std::string FormatSeconds(std::int64_t seconds) {
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t rest = seconds % kSecondsPerDay;
  if (rest < 0) {
    rest += kSecondsPerDay;
    --days;
  }
  const Civil date = CivilFromDays(days);
  std::string out;
  out.reserve(28);
  AppendPadded(date.year, 4, out);
  out += '-';
  AppendPadded(date.month, 2, out);
  out += '-';
  AppendPadded(date.day, 2, out);
  out += 'T';
  AppendPadded(rest / 3600, 2, out);
  out += ':';
  AppendPadded(rest / 60 % 60, 2, out);
  out += ':';
  AppendPadded(rest % 60, 2, out);
  return out;
}

// "Z" or "+hh:mm" or "-hh:mm", as seconds east of UTC.
std::optional<std::int64_t> ParseOffset(TextCursor& in) {
  if (in.Eat('Z')) {
    return 0;
  }
  const bool west = in.Eat('-');
  if (!west && !in.Eat('+')) {
    return std::nullopt;
  }
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  if (!in.Digits(2, hours) || hours > 23 || !in.Eat(':') || !in.Digits(2, minutes) ||
      minutes > 59) {
    return std::nullopt;
  }
  const std::int64_t offset = hours * 3600 + minutes * 60;
  return west ? -offset : offset;
}

// The part behind the decimal point; digits beyond the ninth are dropped.
std::optional<std::int32_t> ParseFraction(TextCursor& in) {
  if (!in.Eat('.') && !in.Eat(',')) {
    return 0;
  }
  std::int32_t nanos = 0;
  std::int32_t unit = 100'000'000;
  std::size_t count = 0;
  for (; in.PeekDigit(); ++count) {
    nanos += static_cast<std::int32_t>(in.TakeDigit()) * unit;
    unit /= 10;
  }
  if (count == 0) {
    return std::nullopt;
  }
  return nanos;
}

std::optional<Instant> ParseRfc3339(std::string_view text) {
  TextCursor in(text);
  Civil date;
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  const bool complete = in.Digits(4, date.year) && in.Eat('-') && in.Digits(2, date.month) &&
                        in.Eat('-') && in.Digits(2, date.day) && in.Eat('T') &&
                        in.Digits(2, hour) && in.Eat(':') && in.Digits(2, minute) && in.Eat(':') &&
                        in.Digits(2, second);
  if (!complete || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > DaysInMonth(date.year, date.month) || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const auto nanos = ParseFraction(in);
  if (!nanos) {
    return std::nullopt;
  }
  const auto offset = ParseOffset(in);
  if (!offset || !in.AtEnd()) {
    return std::nullopt;
  }
  const std::int64_t days = DaysFromCivil(date);
  return Instant{days * kSecondsPerDay + hour * 3600 + minute * 60 + second - *offset, *nanos};
}

Instant FromTimePoint(std::chrono::system_clock::time_point t) {
  const auto since =
      std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
  std::int64_t seconds = since / kNanosPerSecond;
  std::int64_t nanos = since % kNanosPerSecond;
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    --seconds;
  }
  return {seconds, static_cast<std::int32_t>(nanos)};
}

}  // namespace

Time Time::From(std::chrono::system_clock::time_point t) { return {FromTimePoint(t).seconds}; }

std::string Time::ToString() const { return FormatSeconds(seconds) + "Z"; }

Result<Time> Time::Parse(std::string_view text) {
  const auto instant = ParseRfc3339(text);
  if (!instant) {
    return Fail(Malformed("", "not an RFC 3339 time"));
  }
  return Time{instant->seconds};
}

MicroTime MicroTime::From(std::chrono::system_clock::time_point t) {
  const Instant instant = FromTimePoint(t);
  return {instant.seconds, instant.nanos / 1000 * 1000};
}

std::string MicroTime::ToString() const {
  std::string out = FormatSeconds(seconds);
  out += '.';
  AppendPadded(nanos / 1000, 6, out);
  out += 'Z';
  return out;
}

Result<MicroTime> MicroTime::Parse(std::string_view text) {
  const auto instant = ParseRfc3339(text);
  if (!instant) {
    return Fail(Malformed("", "not an RFC 3339 time"));
  }
  return MicroTime{instant->seconds, instant->nanos / 1000 * 1000};
}

DateTime::DateTime(const Time& time) : text_(time.IsZero() ? std::string() : time.ToString()) {}

DateTime::DateTime(const MicroTime& time)
    : text_(time.IsZero() ? std::string() : time.ToString()) {}

DateTime DateTime::FromText(std::string text) {
  DateTime time;
  time.text_ = std::move(text);
  return time;
}

Result<Time> DateTime::ToTime() const { return Time::Parse(text_); }

Result<MicroTime> DateTime::ToMicroTime() const { return MicroTime::Parse(text_); }

}  // namespace kubexx::apimachinery
