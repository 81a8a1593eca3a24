/// @file
/// Outage: for how long requests that fail are tried again.
#ifndef KUBEXX_RELOADER_IN_PLACE_OUTAGE_H_
#define KUBEXX_RELOADER_IN_PLACE_OUTAGE_H_

#include <optional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::reloader {

/// Counts the time for which a server does not do what it is asked for. An API server or a kubelet
/// that is made anew is away for a minute, and then may deny for some seconds what it allows, until
/// it has read all rules. A value type; not thread-safe.
class Outage {
 public:
  /// `longest`: all outages together may last so long. `longest_denial`: so long it may deny the
  /// same in a row.
  Outage(base::Duration longest, base::Duration longest_denial)
      : longest_(longest), longest_denial_(longest_denial) {}

  /// A request has failed, the first one or another one since End. Returns whether to try again.
  bool Bears(const apimachinery::Status& why, base::TimePoint now);
  /// All requests are answered again, or have been all along.
  void End(base::TimePoint now);
  /// How long all outages have lasted together. Who waits for something that only answers can tell
  /// does not count this time.
  base::Duration Lost(base::TimePoint now) const;

 private:
  base::Duration longest_;
  base::Duration longest_denial_;
  base::Duration lost_{0};
  std::optional<base::TimePoint> since_{};
  std::optional<base::TimePoint> denied_since_{};
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_OUTAGE_H_
