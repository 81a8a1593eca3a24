/// @file
/// A small HTTP server for metrics and health pages.
#ifndef KUBEXX_METRICS_HTTP_SERVER_H_
#define KUBEXX_METRICS_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::metrics {

/// A request as handlers see it.
struct HttpRequest {
  std::string path{};   ///< as sent, without the query; not percent-decoded
  std::string query{};  ///< what follows "?", without it
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
};

/// Answers GET and HEAD over HTTP/1.1 without TLS, for scrapers and probes; bad clients cost it
/// little: a request has to arrive whole within a time limit and a size limit, and when all
/// connections are taken a new one replaces the one that has been without a complete request for
/// longest. One thread of its own, on which the handlers run, one at a time. Thread-safe.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  struct Options {
    /// "host:port"; an empty host means every address, IPv6 in brackets, port 0 a free one.
    std::string address = ":9090";
    std::size_t max_connections = 64;
    std::size_t max_header_bytes = 16 << 10;
    std::size_t max_body_bytes = 16 << 10;
    /// For a request to arrive, and for a kept connection to send its next one.
    std::chrono::milliseconds read_timeout = std::chrono::seconds(15);
    /// For the client to take the response.
    std::chrono::milliseconds write_timeout = std::chrono::seconds(15);
  };

  explicit HttpServer(Options options);
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Sets who answers `path`, which is compared exactly; replaces an earlier one. Also while
  /// running. What a handler throws is answered with 500.
  void Handle(std::string path, Handler handler);

  /// Listens and starts to answer. kInvalidConfig for an address that cannot be read, kUnavailable
  /// for one that cannot be listened on, which the message names. Once only.
  apimachinery::Result<void> Start();

  /// The port that is listened on; 0 before Start.
  std::uint16_t port() const;

  /// Closes all connections, at once, and returns when no handler runs and none will. May be called
  /// again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A handler that serves `registry`, which must outlive the server, in the text exposition format.
HttpServer::Handler MetricsHandler(const Registry& registry);

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_HTTP_SERVER_H_
