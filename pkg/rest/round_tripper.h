/// @file
/// RoundTripper: the interface that carries a client's requests to the server and the answers back.
#ifndef KUBEXX_REST_ROUND_TRIPPER_H_
#define KUBEXX_REST_ROUND_TRIPPER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::rest {

/// One request as it is sent, with credentials and all headers except those of the connection.
struct HttpRequest {
  std::string method{};
  std::string target{};  ///< path and query, percent-encoded
  /// Names and values that CheckHeader accepts; a name may occur several times.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string_view body{};  ///< copied by Start
  bool has_body = false;
  bool quiet = false;   ///< the response may be silent for longer than ten minutes
  bool stream = false;  ///< the response is read in pieces, as lists and watches are
  bool secret = false;  ///< the response holds Secrets: buffers are overwritten after use
};

/// The head of a response.
struct HttpHead {
  int code = 0;
  std::string content_type{};
  std::string retry_after{};
  std::string warning{};
  std::string content_encoding{};
};

/// What a read that does not wait has found.
enum class StreamRead : std::uint8_t {
  kPiece,    ///< a piece, which the sink has got; there may be more
  kNothing,  ///< nothing has arrived since the last piece
  kEnd,      ///< the end of the body
};

/// One request in progress. Not thread-safe. Its destructor abandons an unfinished request and does
/// not wait for it.
class RoundTrip {
 public:
  using Sink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  /// When to stop waiting. TimePoint::max() means never.
  struct Limits {
    base::TimePoint connect = base::TimePoint::max();  ///< until the request's head has been sent
    base::TimePoint head = base::TimePoint::max();     ///< until the response's head has arrived
    /// The time for the response's head after the request's head has been sent; zero: no limit.
    base::Duration response{0};
  };

  virtual ~RoundTrip() = default;

  /// Waits for the response's head. kUnavailable: no connection, or it broke; kTimeout: limits.head
  /// or limits.response passed; kCancelled.
  virtual apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop,
                                                   const Limits& limits) = 0;

  /// Passes the next piece of the body to `sink` on this thread. False when the body has ended.
  /// kUnavailable when the connection broke before that or `deadline` passed without a piece;
  /// kCancelled; or the error of `sink`.
  virtual apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop,
                                          base::TimePoint deadline) = 0;

  // For those that read without a thread that waits. Only where RoundTripper::CanNotify says so; by
  // default TryRead fails with kInternalError.

  /// As Read, but never waits for the network. After an AwaitHead, and instead of Read.
  virtual apimachinery::Result<StreamRead> TryRead(Sink /*sink*/) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError,
                              "this round trip can only be read by a thread that waits");
  }
  /// `tell` is what Arm has called. It is called on any thread, and must neither block nor throw.
  /// Once this object is gone it is called no more. At most one, before the first Arm.
  virtual void Notify(std::function<void()> /*tell*/) {}
  /// Has somebody told once, as soon as TryRead would find something. May also tell without a
  /// reason. Returns when TryRead has to be called although nobody has been told;
  /// TimePoint::max(): never.
  virtual base::TimePoint Arm() { return base::TimePoint::max(); }

  /// Whether AwaitHead failed because an established connection was lost (reset or end of file)
  /// without an answer.
  virtual bool lost_connection() const = 0;

  /// Whether the connection broke; false after a Read whose deadline passed.
  virtual bool failed() const = 0;
};

/// Replaces the network below a RESTClient, for tests, simulations and servers in the same process:
/// see Config::round_tripper. The client still does throttling, credentials, retries and timeouts.
/// An exception of it, or of its RoundTrips, fails the request with kInternalError; destructors
/// must not throw. Thread-safe. Like Go's http.RoundTripper, which rest.Config.Transport takes.
class RoundTripper {
 public:
  virtual ~RoundTripper() = default;

  /// Starts to send the request; does not wait. Never returns null.
  virtual std::unique_ptr<RoundTrip> Start(const HttpRequest& request) = 0;

  /// Whether the RoundTrips of streams (see HttpRequest::stream) have TryRead, Notify and Arm.
  /// Without them each watch takes a thread, which waits in Read.
  virtual bool CanNotify() const { return false; }
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_ROUND_TRIPPER_H_
