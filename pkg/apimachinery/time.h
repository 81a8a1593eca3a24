/// @file
/// meta/v1 Time, MicroTime and Duration, and DateTime of custom resources.
#ifndef KUBEXX_APIMACHINERY_TIME_H_
#define KUBEXX_APIMACHINERY_TIME_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// Go's zero time, 0001-01-01T00:00:00Z, in seconds since the Unix epoch.
inline constexpr std::int64_t kZeroTimeSeconds = -62135596800;

/// meta/v1 Time: a second of UTC time. JSON "2006-01-02T15:04:05Z", null when zero. As in Go,
/// fractions of a second are dropped when reading and writing, in both encodings.
struct Time {
  std::int64_t seconds = kZeroTimeSeconds;
  std::int32_t nanos = 0;
  bool IsZero() const { return seconds == kZeroTimeSeconds && nanos == 0; }
  static Time From(std::chrono::system_clock::time_point t);
  /// Returns the time in RFC 3339, in UTC and whole seconds.
  std::string ToString() const;
  /// Parses any RFC 3339 time, which may have an offset and a fraction; kMalformed otherwise.
  static Result<Time> Parse(std::string_view text);
  auto operator<=>(const Time&) const = default;
};

/// meta/v1 MicroTime: microseconds of UTC time. JSON "2006-01-02T15:04:05.000000Z", null when zero.
/// Finer fractions are cut off.
struct MicroTime {
  std::int64_t seconds = kZeroTimeSeconds;
  std::int32_t nanos = 0;
  bool IsZero() const { return seconds == kZeroTimeSeconds && nanos == 0; }
  static MicroTime From(std::chrono::system_clock::time_point t);
  std::string ToString() const;
  /// Parses any RFC 3339 time; kMalformed otherwise. More lenient than Go, which requires six
  /// decimals.
  static Result<MicroTime> Parse(std::string_view text);
  auto operator<=>(const MicroTime&) const = default;
};

/// A time with the text that it has in JSON, as fields of custom resources with `format: date-time`
/// hold it. What is read is written again letter by letter, with its fraction of a second, however
/// fine, and its offset from UTC, which Time and MicroTime drop: a client that changes another
/// field of an object leaves this one as it was. The text is not checked, because an API server
/// accepts more than RFC 3339 has. Null in JSON when empty. A value type.
class DateTime {
 public:
  DateTime() = default;
  /// Whole seconds.
  DateTime(const Time& time);  // NOLINT(google-explicit-constructor)
  /// Microseconds, with six decimals.
  DateTime(const MicroTime& time);  // NOLINT(google-explicit-constructor)
  /// Takes the text as it is.
  static DateTime FromText(std::string text);

  /// Whether there is no time.
  bool IsZero() const { return text_.empty(); }
  const std::string& ToString() const { return text_; }
  /// The time itself, without the part of a second that the result's type does not hold.
  /// kMalformed when the text is no RFC 3339 time.
  Result<Time> ToTime() const;
  Result<MicroTime> ToMicroTime() const;
  /// Compares the texts: two of the same time may differ.
  bool operator==(const DateTime&) const = default;

 private:
  std::string text_;
};

/// meta/v1 Duration: nanoseconds. JSON in Go's syntax, for example "1h30m0s".
struct Duration {
  std::int64_t nanos = 0;
  /// As Go's time.Duration.String.
  std::string ToString() const;
  /// As Go's time.ParseDuration; kMalformed for text that Go rejects.
  static Result<Duration> Parse(std::string_view text);
  auto operator<=>(const Duration&) const = default;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_TIME_H_
