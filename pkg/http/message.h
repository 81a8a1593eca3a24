/// @file
/// The requests and responses of an http::Server's handlers.
#ifndef KUBEXX_HTTP_MESSAGE_H_
#define KUBEXX_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::http {

/// The subject of the client's certificate.
struct Peer {
  std::string common_name{};                 ///< empty: no certificate, or an invalid one
  std::vector<std::string> organizations{};  ///< in the certificate's order
  /// The client's certificate is invalid: it has another authority, is not valid now, or is not for
  /// clients.
  bool refused = false;
};

/// A whole request. A value type.
struct Request {
  std::string path{};          ///< as sent, without the query; not percent-decoded
  std::string query{};         ///< what follows "?", without it
  std::string method = "GET";  ///< in capitals
  std::string body{};          ///< at most Options::max_body_bytes
  /// Whether the server did not read the body, because the client was not admitted (see
  /// Options::admit), or because the body is longer than its path allows (see Server::HandlePost).
  bool is_body_dropped = false;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< as sent, in order
  Peer peer{};
  /// Requested when the server stops or `deadline` has passed, because nobody waits for the answer
  /// then.
  std::stop_token stop{};
  base::TimePoint deadline = base::TimePoint::max();
  /// Set when the handler runs on a handler thread of the server; see Waiting.
  std::function<bool(bool begins)> on_wait{};

  /// Returns the value of the first header with this name, ignoring case; "" when there is none.
  std::string_view Header(std::string_view name) const;
};

/// Tells the server that the handler of a request is waiting for somebody who may need the same
/// server, for example for a webhook that calls the API. The server handles another request in its
/// place while this object lives. A handler may make several, also on other threads; the request
/// must outlive them.
class Waiting {
 public:
  explicit Waiting(const Request& request)
      : request_(request), granted_(!request.on_wait || request.on_wait(true)) {}
  ~Waiting() {
    if (granted_ && request_.on_wait) {
      request_.on_wait(false);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Returns kTooManyRequests when too many handlers wait already. The handler must then not wait,
  /// because no thread would be left to work.
  [[nodiscard]] apimachinery::Result<void> Check() const;

 private:
  const Request& request_;
  const bool granted_;
};

/// A body that is sent while it is produced, such as the events of a watch. The server sends it
/// with chunked transfer coding or, to a client that asks for the upgrade, as the messages of a
/// WebSocket (text when the content type is JSON, otherwise binary), which needs an OpenSSL that
/// has SHA-1. The server calls Start, then Take after each wake when the connection can send more,
/// and Closed once at the end, all on its network thread; none of them may block.
class BodyStream {
 public:
  using Chunk = std::shared_ptr<const std::string>;

  virtual ~BodyStream() = default;
  /// Starts the stream. `wake` tells the server to call Take. Any thread may call it until Closed
  /// has returned, even when Take has nothing to append.
  virtual void Start(std::function<void()> wake) = 0;
  /// Appends the available chunks; empty ones are not sent. Returns false when the body ends after
  /// them.
  virtual bool Take(std::vector<Chunk>& chunks) = 0;
  /// Called when the body has ended or the client has disconnected.
  virtual void Closed() = 0;
};

/// The answer of a handler.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< additional ones
  /// When set, the body, instead of `body`. An HTTP/1.0 client gets 505, because it does not
  /// support chunks.
  std::shared_ptr<BodyStream> stream{};
};

/// Answers a request; Server documents on which thread.
using Handler = std::function<Response(const Request&)>;

/// Runs before the handler of a request. A response is sent instead of calling the handler;
/// std::nullopt lets the request pass.
using Filter = std::function<std::optional<Response>(const Request&)>;

/// Returns a handler that calls `filter` and then `handler`: server.Handle("/metrics",
/// Filtered(auth, MetricsHandler(registry))).
Handler Filtered(Filter filter, Handler handler);

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_MESSAGE_H_
