/// @file
/// The queue and the thread between those who record events and the sink.
#ifndef KUBEXX_EVENTS_INTERNAL_PIPELINE_H_
#define KUBEXX_EVENTS_INTERNAL_PIPELINE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/events/internal/delivery.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::events::internal {

/// Hands events of type E, in order, to a function that runs on a thread of the pipeline.
/// Thread-safe.
template <class E>
class Pipeline {
 public:
  /// The functions that the pipeline calls on its thread. `stop` is requested when Stop no longer
  /// waits for them.
  struct Hooks {
    std::function<void(E&& event, const std::stop_token& stop)> process{};
    /// Called at the start, and then whenever the time has come that the last call returned. May be
    /// empty.
    std::function<base::TimePoint(const std::stop_token& stop)> maintain{};
    /// Called once at the end, when the queue is empty or `stop` was requested. May be empty.
    std::function<void(const std::stop_token& stop)> flush{};
  };

  /// Settings of a Pipeline.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    std::size_t capacity = 0;
    metrics::Counter dropped{};
    std::string component{};  ///< the source of the events, for the log
  };

  /// Starts the thread, so everything that the hooks use must exist already.
  Pipeline(Options options, Hooks hooks)
      : clock_(options.clock),
        capacity_(options.capacity),
        dropped_(options.dropped),
        component_(std::move(options.component)),
        hooks_(std::move(hooks)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  /// Drops the queued events.
  ~Pipeline() = default;

  /// Queues an event and never blocks. The event is dropped if the queue is full or Stop was
  /// called.
  void Put(E&& event) {
    bool taken = false;
    bool stopped = false;
    std::size_t to_tell = 0;
    {
      const base::TimePoint now = clock_.Now();
      const base::MutexLock lock(mu_);
      stopped = closed_;
      taken = !stopped && queue_.size() < capacity_;
      if (taken) {
        queue_.push_back(std::move(event));
      } else if (++untold_, now >= next_line_) {
        next_line_ = now + kBetweenLines;
        to_tell = std::exchange(untold_, 0);
      }
    }
    if (taken) {
      changed_.notify_all();
    } else {
      dropped_.Increment();
    }
    if (to_tell > 0) {
      LogNotTaken(component_, to_tell, stopped);
    }
  }

  /// For the hooks: waits for `d`. Returns false, without waiting any longer, if the pipeline is
  /// being stopped.
  bool Pause(base::Duration d, const std::stop_token& stop) {
    const base::TimePoint until = clock_.Now() + d;
    base::MutexLock lock(mu_);
    while (!closed_ && !stop.stop_requested() && clock_.Now() < until) {
      clock_.WaitUntil(mu_, changed_, stop, until);
    }
    return !closed_ && !stop.stop_requested();
  }

  /// For the hooks: notes that an event was not written because Stop no longer waited.
  void GaveUp() {
    const base::MutexLock lock(mu_);
    ++given_up_;
  }

  /// From now on the pipeline takes no more events, and Stop waits for no longer than `limit` from
  /// now. Later calls change nothing.
  void Close(base::Duration limit) {
    const base::TimePoint until = clock_.Now() + limit;
    const base::MutexLock lock(mu_);
    if (!std::exchange(closed_, true)) {
      until_ = until;
      changed_.notify_all();
    }
  }

  /// Calls Close, and waits until the queue is empty and flushed, but not longer than Close has
  /// said. Then the pipeline drops what is left, and logs how many events are lost. May be called
  /// again.
  void Stop(base::Duration limit) {
    Close(limit);
    {
      base::MutexLock lock(mu_);
      while (!done_ && clock_.Now() < until_) {
        clock_.WaitUntil(mu_, changed_, {}, until_);
      }
    }
    thread_.request_stop();
  }

 private:
  /// The time between two lines of the log about dropped events. A full queue stays full for a
  /// while, and would otherwise fill the log.
  static constexpr base::Duration kBetweenLines = std::chrono::minutes(1);

  void Run(const std::stop_token& stop) {
    base::TimePoint due = hooks_.maintain ? hooks_.maintain(stop) : base::TimePoint::max();
    while (true) {
      std::optional<E> event = Take(stop, due);
      if (event) {
        hooks_.process(*std::move(event), stop);
      }
      if (stop.stop_requested() || (!event && Closed())) {
        break;
      }
      if (clock_.Now() >= due) {
        due = hooks_.maintain(stop);
      }
    }
    if (hooks_.flush) {
      hooks_.flush(stop);
    }
    std::deque<E> left;
    std::size_t lost = 0;
    {
      const base::MutexLock lock(mu_);
      left.swap(queue_);
      lost = left.size() + given_up_;
      dropped_.Increment(static_cast<double>(lost));
      done_ = true;
      changed_.notify_all();
    }
    if (lost > 0) {
      LogDropped(component_, lost);
    }
  }

  /// Waits for the next event. Returns std::nullopt if the pipeline is closed and empty, or
  /// stopped, or when `due` has come.
  std::optional<E> Take(const std::stop_token& stop, base::TimePoint due) {
    base::MutexLock lock(mu_);
    while (queue_.empty() && !closed_ && !stop.stop_requested() && clock_.Now() < due) {
      clock_.WaitUntil(mu_, changed_, stop, due);
    }
    if (queue_.empty() || stop.stop_requested()) {
      return std::nullopt;
    }
    std::optional<E> event(std::move(queue_.front()));
    queue_.pop_front();
    return event;
  }

  bool Closed() {
    const base::MutexLock lock(mu_);
    return closed_ && queue_.empty();
  }

  base::Clock& clock_;
  const std::size_t capacity_;
  metrics::Counter dropped_;
  const std::string component_;
  const Hooks hooks_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<E> queue_ KX_GUARDED_BY(mu_);
  std::size_t given_up_ KX_GUARDED_BY(mu_) = 0;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  std::size_t untold_ KX_GUARDED_BY(mu_) = 0;  // dropped events that no line has told of
  base::TimePoint next_line_ KX_GUARDED_BY(mu_){};
  base::TimePoint until_ KX_GUARDED_BY(mu_){};  // how long Stop waits; valid if closed
  bool done_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;
};

}  // namespace kubexx::events::internal

#endif  // KUBEXX_EVENTS_INTERNAL_PIPELINE_H_
