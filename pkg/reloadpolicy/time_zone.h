/// @file
/// Local times according to the system's time zone database.
#ifndef KUBEXX_RELOADPOLICY_TIME_ZONE_H_
#define KUBEXX_RELOADPOLICY_TIME_ZONE_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::reloadpolicy {

/// A local time, as a clock on the wall shows it.
using LocalTime = std::chrono::local_seconds;

/// The moments that a local time stands for. When clocks go forward, some local times are skipped:
/// then both `first` and `second` are the moment of the change. When clocks go back, some local
/// times occur twice. Otherwise `first` equals `second`.
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
  /// Reads the zone from $TZDIR or /usr/share/zoneinfo. Fails with kInvalidConfig when there is no
  /// such zone, or its file cannot be read. "" and "UTC" need no file.
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
