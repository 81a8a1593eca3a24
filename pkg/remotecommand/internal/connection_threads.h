/// @file
/// ConnectionThreads: a thread for each of several connections.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_CONNECTION_THREADS_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_CONNECTION_THREADS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <thread>
#include <utility>

#include "kubexx/remotecommand/internal/wake_event.h"

namespace kubexx::remotecommand::internal {

/// Runs functions, each on a thread of its own. For one thread; its end waits for all functions,
/// which somebody else has to tell to end.
class ConnectionThreads {
 public:
  /// `ended` is signalled when a function has returned, and outlives this.
  explicit ConnectionThreads(const WakeEvent& ended) : ended_(ended) {}

  /// Throws std::system_error where there is no thread left, and std::bad_alloc where there is no
  /// memory; nothing has changed then. `serve` must not throw.
  void Add(std::move_only_function<void()> serve) {
    One& one = all_.emplace_back();
    try {
      one.thread = std::jthread([this, &one, serve = std::move(serve)]() mutable {
        serve();
        // Nothing here needs memory: where it is scarce the place is free again all the same.
        one.is_over = true;
        ended_.Signal();
      });
    } catch (...) {
      all_.pop_back();
      throw;
    }
  }

  /// Joins the threads whose functions have returned.
  void Reap() {
    std::erase_if(all_, [](const One& one) { return one.is_over.load(); });
  }

  /// How many there are that no Reap has joined.
  std::size_t size() const { return all_.size(); }

 private:
  struct One {
    std::atomic<bool> is_over = false;
    std::jthread thread{};  // Joined first.
  };

  const WakeEvent& ended_;
  std::list<One> all_;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_CONNECTION_THREADS_H_
