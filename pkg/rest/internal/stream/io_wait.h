/// @file
/// Waits for the socket of a Connection.
#ifndef KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_
#define KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_

#include <expected>

#include "kubexx/base/function_ref.h"
#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/poller.h"
#include "kubexx/rest/internal/stream/waiting.h"

namespace kubexx::rest::internal {

/// Tells what to wait for after a step that ended with `io`, for which Connection::IsWant is true.
inline Poller::Interest InterestOf(Connection::Io io) {
  return io == Connection::Io::kWantRead ? Poller::Interest::kRead : Poller::Interest::kWrite;
}

/// Calls `attempt`, which is one of the connection's operations, until it no longer has to wait for
/// the socket. Returns the result of the last call, or the reason why the wait ended before.
std::expected<Connection::Step, Trouble> AwaitIo(Connection& connection, const Waiting& waiting,
                                                 base::FunctionRef<Connection::Step()> attempt);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_IO_WAIT_H_
