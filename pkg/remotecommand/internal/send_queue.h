/// @file
/// SendQueue: the messages that wait to be sent.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_SEND_QUEUE_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_SEND_QUEUE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::remotecommand::internal {

/// A bounded queue between the threads that produce messages and the thread that sends them.
/// Thread-safe.
class SendQueue {
 public:
  static constexpr std::size_t kMaxBytes = 128 << 10;

  /// Waits for room and adds a message. False when closed or stopped.
  bool Push(std::string message, const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    while (!closed_ && bytes_ > kMaxBytes) {
      if (base::Clock::Real().WaitUntil(mu_, room_, stop, base::TimePoint::max()) ==
          base::Wake::kStopped) {
        return false;
      }
    }
    if (closed_ || stop.stop_requested()) {
      return false;
    }
    bytes_ += message.size();
    messages_.push_back(std::move(message));
    return true;
  }

  /// Removes and returns the next message, if there is one.
  std::optional<std::string> Pop() {
    base::MutexLock lock(mu_);
    if (messages_.empty()) {
      return std::nullopt;
    }
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    bytes_ -= message.size();
    room_.notify_all();
    return message;
  }

  void Close() {
    base::MutexLock lock(mu_);
    closed_ = true;
    room_.notify_all();
  }

 private:
  base::Mutex mu_;
  base::CondVar room_;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
  std::deque<std::string> messages_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_SEND_QUEUE_H_
