/// @file
/// An HTTP/1.1 server: metrics and health pages, webhooks, the API.
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

/// How to speak TLS, 1.2 at least.
struct TlsOptions {
  /// Where the certificate comes from; asked for each new connection, so that it can be rotated.
  /// None: a self-signed one for localhost, made at Start and kept in memory.
  CertificateProvider certificate{};
  /// PEM of the authorities that sign the certificates of clients; then only clients with such a
  /// certificate are let in. Empty: any client.
  std::string client_ca{};
  /// Clients without a certificate are let in, too, and those whose certificate is not good. The
  /// handlers see it as Request::peer.
  bool client_certificate_optional = false;
};

/// Answers requests over HTTP/1.1, with or without TLS. Bad clients cost it little: a request has
/// to arrive whole within a time limit and a size limit, and when all connections, or the process's
/// descriptors, are taken a new one replaces the one that has been without a complete request for
/// longest. When none is, a few more are served by the handlers that run at once, and get 503 from
/// others. One thread of its own
/// does the network's work; handlers run on it, one at a time, or on threads of their own. Memory
/// is bounded by the limits of what is not read yet, and one request and one answer for each
/// handler that runs at once. Where much is sent, taken, or asked for, requests and answers of
/// others come in between. Thread-safe.
class Server {
 public:
  using Handler = http::Handler;

  /// Where to listen, TLS, and the limits on clients.
  struct Options {
    /// "host:port"; an empty host means every address, IPv6 in brackets, port 0 a free one.
    std::string address = ":9090";
    std::size_t max_connections = 64;
    std::size_t max_header_bytes = 16 << 10;
    std::size_t max_body_bytes = 16 << 10;
    /// Of headers that are still being read, all together: beyond it, of the connections that hold
    /// half their share of it or more, the one that has been at its header for longest is closed.
    std::size_t max_unread_header_bytes = 64 << 20;
    /// Of bodies that are still being read, all together: beyond it, of the connections that hold
    /// half their share of it or more, the one that has been at its body for longest is closed.
    std::size_t max_unread_body_bytes = 256 << 20;
    /// Of answers that their clients have not taken yet, all together; of streams, the chunks that
    /// no other stream has: beyond it, of the other connections that hold half their share of it or
    /// more, the one that has taken nothing for longest is closed, and so on. One answer may go
    /// beyond it, and answers of less than 64 KiB close nobody.
    std::size_t max_unread_answer_bytes = 512 << 20;
    /// Who has taken something of an answer within that time is closed only when twice as much
    /// waits: many may ask for much at once, as informers do after a restart, and read.
    std::chrono::milliseconds answer_patience = std::chrono::seconds(2);
    /// For a request to arrive, the TLS handshake to finish, and a kept connection to send its
    /// next request.
    std::chrono::milliseconds read_timeout = std::chrono::seconds(15);
    /// The same for a client that `admit` has let in: for its body, and for its next request.
    /// Zero: as `read_timeout`.
    std::chrono::milliseconds idle_timeout{0};
    /// Says from the header whether to trust the client with more of the server's time and memory,
    /// and who it is, by a name that it cannot choose: see handler_threads. If not, no body is
    /// read, the handler gets the request without it, and the connection ends with the answer; when
    /// connections are scarce, those go first that were not let in, and also while they are being
    /// answered. Runs on the network thread and must not wait. None: everybody is let in.
    std::function<std::optional<std::string>(const Request& header)> admit{};
    /// For the client to take the response; no longer than `read_timeout` when `admit` has not let
    /// it in.
    std::chrono::milliseconds write_timeout = std::chrono::seconds(15);
    /// Plain HTTP when not set.
    std::optional<TlsOptions> tls{};
    /// How many handlers of one client run at once, besides those that are Waiting, on threads of
    /// their own, and one more of other clients: for handlers that wait for others, such as the API
    /// server. Clients that ask for more at once than that take turns. They are told apart by what
    /// `admit` calls them; those that were not let in are one. 0: on the network thread, for
    /// handlers that never do.
    std::size_t handler_threads = 0;
    /// Of the requests of more than 64 KiB that wait for such a thread, all together.
    std::size_t max_queued_body_bytes = 128 << 20;
    /// How many handlers with a thread of the server's may be Waiting at once; half of them of one
    /// client where `admit` tells them apart.
    std::size_t max_waiting_handlers = 256;
    /// How long a handler on a thread of its own may take, waiting for a free thread included. Then
    /// its stop token is requested and the client gets `timeout_response`; unset: 503.
    std::chrono::milliseconds handler_timeout = std::chrono::seconds(30);
    std::function<Response()> timeout_response{};
    /// What is answered to a request that cannot be read: 400, 413 for a body of more than
    /// `max_body_bytes`, 417, 431 for a header of more than `max_header_bytes`, 501; `text` says
    /// why. Runs on the network thread. Unset: the text.
    std::function<Response(int status, const std::string& text)> refusal{};
    /// Runs in Start, when connections can be made and none has been answered yet; port() is set.
    /// Start returns its error.
    std::function<apimachinery::Result<void>()> on_listening{};
  };

  explicit Server(Options options);
  /// Stops.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Sets who answers GET and HEAD of `path`, which is compared exactly; replaces an earlier one.
  /// Also while running. What a handler throws is answered with 500.
  void Handle(std::string path, Handler handler);

  /// The same for POST; a path answers either.
  void HandlePost(std::string path, Handler handler);

  /// As Handle, but the handler always runs on the network thread, whatever the others do, and must
  /// not wait: for health pages.
  void HandleAtOnce(std::string path, Handler handler);

  /// Sets who answers what no path has a handler for, of any method; replaces an earlier one.
  void HandleOthers(Handler handler);

  /// Listens and starts to answer. kInvalidConfig for an address that cannot be read or a
  /// certificate that cannot be used, kUnavailable for an address that cannot be listened on, which
  /// the message names. Once only.
  apimachinery::Result<void> Start();

  /// The port that is listened on; 0 before Start.
  std::uint16_t port() const;

  /// Listens no more, closes connections that ask for nothing, and others with their answer, which
  /// says so; returns when none is left or `limit` has passed. Stop comes after it.
  void Drain(std::chrono::milliseconds limit);

  /// Closes all connections, at once, and returns when no handler runs and none will. May be called
  /// again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_SERVER_H_
