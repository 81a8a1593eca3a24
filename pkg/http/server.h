/// @file
/// Server: an HTTP/1.1 server for metrics and health pages, webhooks, and the API.
#ifndef KUBEXX_HTTP_SERVER_H_
#define KUBEXX_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/certificate.h"
#include "kubexx/http/message.h"

namespace kubexx::http {

/// The TLS settings of a server, which uses TLS 1.2 or newer.
struct TlsOptions {
  /// The source of the certificate; called for each new connection, so that certificates can be
  /// rotated. When unset, Start makes a self-signed one for localhost and keeps it in memory.
  CertificateProvider certificate{};
  /// PEM of the authorities that sign clients' certificates; only clients with such a certificate
  /// may connect. When empty, any client may connect.
  std::string client_ca{};
  /// Clients without a certificate, or with an invalid one, may connect, too. Handlers see the
  /// result as Request::peer.
  bool client_certificate_optional = false;
};

/// Answers requests over HTTP/1.1, with or without TLS. Thread-safe.
///
/// Misbehaving clients cost the server little. A request has to arrive completely within a time
/// limit and a size limit. When all connections, or the process's file descriptors, are in use, a
/// new connection replaces the one that has been without a complete request for longest. When every
/// connection has a request, the server accepts a few more: handlers of HandleAtOnce answer their
/// requests, and all others get 503.
///
/// One network thread does the I/O. Handlers run on it, one at a time, or on threads of their own.
/// Memory is bounded by the limits of unread data, and by one request and one answer for each
/// running handler. While a client sends, receives or requests much, the server also handles the
/// requests and answers of others.
class Server {
 public:
  using Handler = http::Handler;

  /// The listen address, TLS, and the limits on clients.
  struct Options {
    /// "host:port". An empty host means every address; IPv6 addresses are in brackets; port 0 means
    /// any free port.
    std::string address = ":9090";
    std::size_t max_connections = 64;
    std::size_t max_header_bytes = 16 << 10;
    std::size_t max_body_bytes = 16 << 10;
    /// The limit of all headers together that are still being read. Above it, the server looks at
    /// the connections that hold at least half of the average, and closes the one whose header has
    /// been unfinished for longest.
    std::size_t max_unread_header_bytes = 64 << 20;
    /// The same limit for bodies that are still being read.
    std::size_t max_unread_body_bytes = 256 << 20;
    /// The limit of all answers together that clients have not received yet; of streams, only
    /// chunks that no other stream has count. Above it, the server looks at the other connections
    /// that hold at least half of the average, closes the one whose client has received nothing for
    /// longest, and so on. A single answer may exceed it, and answers of less than 64 KiB close no
    /// connection.
    std::size_t max_unread_answer_bytes = 512 << 20;
    /// A client that has received a part of an answer within this time is closed only above twice
    /// max_unread_answer_bytes, because many clients may request much at once, as informers do
    /// after a restart.
    std::chrono::milliseconds answer_patience = std::chrono::seconds(2);
    /// The time limit for the arrival of a request, for the TLS handshake, and for the next request
    /// of a connection.
    std::chrono::milliseconds read_timeout = std::chrono::seconds(15);
    /// The time limit for the body and the next request of a client that `admit` has admitted. Zero
    /// means `read_timeout`.
    std::chrono::milliseconds idle_timeout{0};
    /// Decides from the header whether to give the client more of the server's time and memory.
    /// Returns a name for the client, which it must not be able to choose (see handler_threads), or
    /// std::nullopt to refuse. The server does not read the body of a refused client: the handler
    /// gets the request without it, and the connection ends with the answer. When connections are
    /// scarce, the server closes those of refused clients first, even while it answers them. Runs
    /// on the network thread and must not wait. When unset, every client is admitted.
    std::function<std::optional<std::string>(const Request& header)> admit{};
    /// A client that receives nothing of a response, or of what is ready of a stream, for so long
    /// is given up. One that `admit` has not admitted has to receive all of it within this time,
    /// and within `read_timeout`.
    std::chrono::milliseconds write_timeout = std::chrono::seconds(15);
    /// The bytes a second that a client has to receive after the first `write_timeout`, so that one
    /// that receives a little now and then does not hold a large response for ever. With 0, all of
    /// it has to be received within `write_timeout`.
    std::size_t min_write_rate = 16 << 10;
    /// The TLS settings; plain HTTP when unset.
    std::optional<TlsOptions> tls{};
    /// How many handlers of one client run at the same time, each on a thread, apart from those
    /// that are Waiting; one more may run for other clients. For handlers that wait for others,
    /// such as the API server. Clients with more requests take turns. Clients are distinguished by
    /// the name that `admit` returns; all clients that were not admitted count as one. With 0,
    /// handlers run on the network thread and must never wait.
    std::size_t handler_threads = 0;
    /// The limit of all requests together that have more than 64 KiB and wait for a handler thread.
    std::size_t max_queued_body_bytes = 128 << 20;
    /// How many handlers may be Waiting at the same time; at most half of them of one client when
    /// `admit` distinguishes clients.
    std::size_t max_waiting_handlers = 256;
    /// How long a handler on a handler thread may take, including the wait for a free thread. After
    /// that its stop token is requested and the client gets `timeout_response`, or 503 when that is
    /// unset.
    std::chrono::milliseconds handler_timeout = std::chrono::seconds(30);
    std::function<Response()> timeout_response{};
    /// Makes the answer to a request that cannot be read: 400, 413 for a body of more than
    /// `max_body_bytes`, 417, 431 for a header of more than `max_header_bytes`, 501; `text` says
    /// why. Runs on the network thread. When unset, the body is the text.
    std::function<Response(int status, const std::string& text)> refusal{};
    /// Start calls it when clients can connect and no request has been answered yet; port() is set.
    /// Start returns its error.
    std::function<apimachinery::Result<void>()> on_listening{};
  };

  explicit Server(Options options);
  /// Calls Stop.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Sets the handler for GET and HEAD of exactly this path; replaces an earlier one. May be called
  /// while the server runs. When a handler throws, the client gets 500.
  void Handle(std::string path, Handler handler);

  /// Sets the handler for POST. A path has either this or a handler for GET and HEAD. The server
  /// does not read a body that is longer than `max_body_bytes`: the handler gets the request
  /// without it (Request::is_body_dropped), and the connection ends with the answer. What is longer
  /// than Options::max_body_bytes is too long for every path, and may be refused without the
  /// handler.
  void HandlePost(std::string path, Handler handler,
                  std::optional<std::size_t> max_body_bytes = {});

  /// Like Handle, but the handler always runs on the network thread, whatever the others do, and
  /// must not wait. For health pages.
  void HandleAtOnce(std::string path, Handler handler);

  /// Sets the handler for requests of any method whose path has no handler; replaces an earlier
  /// one.
  void HandleOthers(Handler handler);

  /// Listens and starts to answer. kInvalidConfig for an address that cannot be parsed or a
  /// certificate that cannot be used; kUnavailable, which names the address, when the server cannot
  /// listen on it. Call it only once.
  apimachinery::Result<void> Start();

  /// The port that the server listens on; 0 before Start.
  std::uint16_t port() const;

  /// Stops listening, closes connections without a request at once, and the others after their
  /// answer, which announces that. An answer in chunks ends with those that it has now. Returns
  /// when no connection is left or `limit` has passed. Call Stop afterwards.
  void Drain(std::chrono::milliseconds limit);

  /// Closes all connections at once. Returns when no handler runs and none will. May be called
  /// again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_SERVER_H_
