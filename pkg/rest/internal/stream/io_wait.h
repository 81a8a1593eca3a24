/// @file
/// Operations of a Connection that wait for its socket.
#ifndef KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_
#define KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_

#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>

#include "kubexx/base/function_ref.h"
#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/poller.h"
#include "kubexx/rest/internal/stream/tls_context.h"
#include "kubexx/rest/internal/stream/waiting.h"

namespace kubexx::rest::internal {

/// Tells what to wait for after a step that ended with `io`, for which Connection::IsWant is true.
inline Poller::Interest InterestOf(Connection::Io io) {
  return io == Connection::Io::kWantRead ? Poller::Interest::kRead : Poller::Interest::kWrite;
}

/// What the client says in the TLS handshake that it speaks (ALPN).
enum class Offer : std::uint8_t {
  kHttp1,  ///< nothing: then the server takes it for HTTP/1.1
  kHttp2   ///< HTTP/2, or else HTTP/1.1; without TLS as kHttp1
};

/// Calls `attempt`, which is one of the connection's operations, until it no longer has to wait for
/// the socket. Returns the result of the last call, or the reason why the wait ended before.
std::expected<Connection::Step, Trouble> AwaitIo(Connection& connection, const Waiting& waiting,
                                                 base::FunctionRef<Connection::Step()> attempt);

/// Writes all bytes of `bytes`.
std::expected<void, Trouble> WriteAll(Connection& connection, std::string_view bytes,
                                      const Waiting& waiting);

/// Adds TLS with `tls` to the connection and does the handshake. The message of a Trouble of
/// kFailed is only the reason.
std::expected<void, Trouble> StartTls(Connection& connection, std::shared_ptr<TlsContext> tls,
                                      Offer offer, const Waiting& waiting);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_
