/// @file
/// Local times of the system's time zone database.
#ifndef KUBEXX_RELOADPOLICY_TIME_ZONE_H_
#define KUBEXX_RELOADPOLICY_TIME_ZONE_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::reloadpolicy {

/// A time of day as a clock on the wall shows it.
using LocalTime = std::chrono::local_seconds;

/// What a local time stands for. When clocks go forward some do not exist: then `first` is the
/// moment of the change, and `second` equals it. When they go back some exist twice.
struct Moments {
  base::WallTime first{};
  base::WallTime second{};
  bool twice = false;
  bool skipped = false;
};

/// An IANA time zone. Cheap to copy, immutable, thread-safe.
class TimeZone {
 public:
  /// UTC.
  TimeZone();
  /// Reads $TZDIR or /usr/share/zoneinfo. kInvalidConfig when there is no zone of that name there,
  /// or it cannot be read. "" and "UTC" need no file.
  static apimachinery::Result<TimeZone> Load(std::string_view name);

  LocalTime ToLocal(base::WallTime time) const;
  Moments FromLocal(LocalTime time) const;
  const std::string& name() const { return name_; }
  bool operator==(const TimeZone& other) const { return name_ == other.name_; }

 private:
  struct Rules;
  std::string name_ = "UTC";
  std::shared_ptr<const Rules> rules_;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_TIME_ZONE_H_
