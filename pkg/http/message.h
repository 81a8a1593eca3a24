/// @file
/// Requests and responses as handlers of an http::Server see them.
#ifndef KUBEXX_HTTP_MESSAGE_H_
#define KUBEXX_HTTP_MESSAGE_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"

namespace kubexx::http {

/// A whole request. A value type.
struct Request {
  std::string path{};          ///< as sent, without the query; not percent-decoded
  std::string query{};         ///< what follows "?", without it
  std::string method = "GET";  ///< "GET", "HEAD" or "POST"
  std::string body{};          ///< empty for GET and HEAD
  std::vector<std::pair<std::string, std::string>> headers{};  ///< as sent, in order
  /// Requested when the server stops or `deadline` has passed: nobody waits for the answer then.
  std::stop_token stop{};
  base::TimePoint deadline = base::TimePoint::max();

  /// The value of the first header with this name, in any case; "" when there is none.
  std::string_view Header(std::string_view name) const;
};

/// What a handler answers.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< more of them
};

/// Answers a request; see Server for the thread it is called on.
using Handler = std::function<Response(const Request&)>;

/// Looks at a request before its handler does: a response ends it, nothing lets it pass.
using Filter = std::function<std::optional<Response>(const Request&)>;

/// `handler` behind `filter`: server.Handle("/metrics", Filtered(auth, MetricsHandler(registry))).
Handler Filtered(Filter filter, Handler handler);

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_MESSAGE_H_
