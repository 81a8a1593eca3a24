/// @file
/// Wakes: wakes the sessions whose streams have something to send.
#ifndef KUBEXX_HTTP_INTERNAL_WAKES_H_
#define KUBEXX_HTTP_INTERNAL_WAKES_H_

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>

#include "kubexx/base/mutex.h"
#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

/// The sessions whose streams have something to send, in order of arrival. A few of them send at a
/// time, and in between the network thread does other work. So an event for a thousand watchers
/// does not delay the next write, and the event of that write is sent together with the waiting
/// ones. Thread-safe; the context must outlive it.
class Wakes {
 public:
  explicit Wakes(boost::asio::io_context& context) : context_(context) {}

  /// Wakes `session` on the network thread, in its turn.
  void Add(std::weak_ptr<Session> session);

 private:
  /// Schedules WakeSome if a session waits.
  void WakeLocked() KX_REQUIRES(mu_);
  void WakeSome();

  boost::asio::io_context& context_;
  base::Mutex mu_;
  std::deque<std::weak_ptr<Session>> waiting_ KX_GUARDED_BY(mu_);
  bool waking_ KX_GUARDED_BY(mu_) = false;  ///< A WakeSome is scheduled.
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WAKES_H_
