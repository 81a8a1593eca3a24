/// @file
/// Streams that have something to send.
#ifndef KUBEXX_HTTP_INTERNAL_WAKES_H_
#define KUBEXX_HTTP_INTERNAL_WAKES_H_

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>

#include "kubexx/base/mutex.h"
#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

/// The sessions whose streams have something to send, in the order in which they said so. A few of
/// them send at a time, and in between the network thread does what else there is: an event for a
/// thousand watchers does not hold up the next write, and what that write brings goes out together
/// with what waits. Thread-safe; the context must outlive it.
class Wakes {
 public:
  explicit Wakes(boost::asio::io_context& context) : context_(context) {}

  /// Has `session` woken on the network thread, in its turn.
  void Add(std::weak_ptr<Session> session);

 private:
  /// Has WakeSome called where there is somebody to wake.
  void WakeLocked() KX_REQUIRES(mu_);
  void WakeSome();

  boost::asio::io_context& context_;
  base::Mutex mu_;
  std::deque<std::weak_ptr<Session>> waiting_ KX_GUARDED_BY(mu_);
  bool waking_ KX_GUARDED_BY(mu_) = false;  ///< A WakeSome is on its way.
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WAKES_H_
