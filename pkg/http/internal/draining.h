/// @file
/// Draining: ends a server after it has answered the requests that it has got.
#ifndef KUBEXX_HTTP_INTERNAL_DRAINING_H_
#define KUBEXX_HTTP_INTERNAL_DRAINING_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "kubexx/base/clock.h"
#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

/// Closes connections without a request, and ends responses in chunks, until no connection is left.
/// Who has sent only a part of a header gets a second for the rest.
class Draining {
 public:
  /// `sessions` and `acceptor` are used only on the thread of `context`.
  Draining(boost::asio::io_context& context, boost::asio::ip::tcp::acceptor& acceptor,
           const Sessions& sessions)
      : context_(context), acceptor_(acceptor), sessions_(sessions), timer_(context) {}

  /// Begins to drain. Returns when no session is left, `limit` has passed or the context was
  /// stopped. Any thread except the context's may call it, also several times.
  void Await(std::chrono::milliseconds limit);
  /// Whether connections have to end with their next answer. Thread-safe.
  bool begun() const { return begun_; }

 private:
  void EndIdle();

  boost::asio::io_context& context_;
  boost::asio::ip::tcp::acceptor& acceptor_;
  const Sessions& sessions_;
  boost::asio::steady_timer timer_;
  base::TimePoint headers_until_{};
  std::atomic<bool> begun_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_DRAINING_H_
