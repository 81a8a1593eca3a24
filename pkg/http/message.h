/// @file
/// Requests and responses as handlers of an http::Server see them.
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

/// Who the client's certificate is for.
struct Peer {
  std::string common_name{};  ///< empty: the client has shown none, or none that is good
  std::vector<std::string> organizations{};  ///< in the certificate's order
  /// It has shown one that is not: of another authority, not valid now, or not for clients.
  bool refused = false;
};

/// A whole request. A value type.
struct Request {
  std::string path{};          ///< as sent, without the query; not percent-decoded
  std::string query{};         ///< what follows "?", without it
  std::string method = "GET";  ///< in capitals
  std::string body{};          ///< of at most Options::max_body_bytes
  /// The client has sent a body that was not read, since it was not let in: see Options::admit.
  bool is_body_dropped = false;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< as sent, in order
  Peer peer{};
  /// Requested when the server stops or `deadline` has passed: nobody waits for the answer then.
  std::stop_token stop{};
  base::TimePoint deadline = base::TimePoint::max();
  /// Set when the handler has a thread of the server's; see Waiting.
  std::function<bool(bool begins)> on_wait{};

  /// The value of the first header with this name, in any case; "" when there is none.
  std::string_view Header(std::string_view name) const;
};

/// As long as this lives the handler of a request waits for somebody else, who may need the same
/// server for it, and another request is worked on in its place: a webhook, say, that asks the API.
/// May be made while there is one already, and on other threads; the request must outlive it.
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

  /// kTooManyRequests when as many handlers wait already as may: this one must not, or nobody would
  /// be left to work.
  [[nodiscard]] apimachinery::Result<void> Check() const;

 private:
  const Request& request_;
  const bool granted_;
};

/// A body that is sent as it comes into being, the frames of a watch: with chunked transfer, or, to
/// a client that asks for the upgrade, as the messages of a WebSocket (text when the content type
/// is JSON, else binary). The server calls Start, then Take whenever the connection can take more
/// after a wake, and Closed once at the end, all on its network thread; none of them may block.
class BodyStream {
 public:
  using Chunk = std::shared_ptr<const std::string>;

  virtual ~BodyStream() = default;
  /// `wake` says that there is something to Take; any thread may call it, also when nothing is
  /// there, until Closed has returned.
  virtual void Start(std::function<void()> wake) = 0;
  /// Appends what is there, each element as a chunk of its own; empty ones are left out. False: the
  /// body ends after them.
  virtual bool Take(std::vector<Chunk>& chunks) = 0;
  /// The body has ended or the client is gone.
  virtual void Closed() = 0;
};

/// What a handler answers.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< more of them
  /// The body when set, instead of `body`. A client of HTTP/1.0 gets 505: it knows no chunks.
  std::shared_ptr<BodyStream> stream{};
};

/// Answers a request; see Server for the thread it is called on.
using Handler = std::function<Response(const Request&)>;

/// Looks at a request before its handler does: a response ends it, nothing lets it pass.
using Filter = std::function<std::optional<Response>(const Request&)>;

/// `handler` behind `filter`: server.Handle("/metrics", Filtered(auth, MetricsHandler(registry))).
Handler Filtered(Filter filter, Handler handler);

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_MESSAGE_H_
