/// @file
/// Waiting: tells how long a step of a connection may wait, and what ends the wait.
#ifndef KUBEXX_REST_INTERNAL_STREAM_WAITING_H_
#define KUBEXX_REST_INTERNAL_STREAM_WAITING_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/internal/stream/poller.h"

namespace kubexx::rest::internal {

/// The conditions that end a wait. It refers to its parts, so it is valid only during one call.
struct Waiting {
  Poller& poller;
  base::Clock& clock;
  const std::stop_token& stop;
  base::TimePoint deadline;
};

/// The reason why a step was not done.
struct Trouble {
  enum class Kind : std::uint8_t { kFailed, kTimeout, kStopped };

  Kind kind = Kind::kFailed;
  Failure failure{};  ///< of kFailed
  /// Of kTimeout: what had not happened, for the error. May be empty.
  std::string missed{};

  /// Whether a wait that ended with `wake` has failed. Then `out` is the reason.
  static bool Is(base::Wake wake, Trouble& out) {
    out.kind = wake == base::Wake::kTimeout ? Kind::kTimeout : Kind::kStopped;
    return wake != base::Wake::kNotified;
  }
  static Trouble Because(std::string message, bool lost_connection = false,
                         bool no_connection = false) {
    return {.failure = {.status = apimachinery::Status(apimachinery::Reason::kUnavailable,
                                                       std::move(message)),
                        .lost_connection = lost_connection,
                        .no_connection = no_connection}};
  }
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_WAITING_H_
