/// @file
/// meta/v1 Time, MicroTime and Duration.
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
