/// @file
/// The end of a server that answers first what it was asked.
#ifndef KUBEXX_HTTP_INTERNAL_DRAINING_H_
#define KUBEXX_HTTP_INTERNAL_DRAINING_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

/// Closes connections that ask for nothing until none is left.
class Draining {
 public:
  /// `sessions` are touched on the thread of `context` only, as `acceptor` is.
  Draining(boost::asio::io_context& context, boost::asio::ip::tcp::acceptor& acceptor,
           const Sessions& sessions)
      : context_(context), acceptor_(acceptor), sessions_(sessions), timer_(context) {}

  /// Begins, and returns when no session is left, `limit` has passed or the context was stopped.
  /// Any thread but the context's may call it, also again.
  void Await(std::chrono::milliseconds limit);
  /// Whether answers are to be their connection's last. Thread-safe.
  bool begun() const { return begun_; }

 private:
  void EndIdle();

  boost::asio::io_context& context_;
  boost::asio::ip::tcp::acceptor& acceptor_;
  const Sessions& sessions_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> begun_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_DRAINING_H_
