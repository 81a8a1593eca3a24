/// @file
/// The queue and the task between those who record events and the sink.
#ifndef KUBEXX_EVENTS_INTERNAL_PIPELINE_H_
#define KUBEXX_EVENTS_INTERNAL_PIPELINE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/scheduled_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/events/internal/delivery.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::events::internal {

/// Hands events of type E, in order, to a function that runs on a thread of an executor, or on one
/// of the pipeline's own. Thread-safe.
template <class E>
class Pipeline {
 public:
  /// The functions that the pipeline calls, one at a time. They may block. `stop` is requested when
  /// Stop no longer waits for them.
  struct Hooks {
    std::function<void(E&& event, const std::stop_token& stop)> process{};
    /// Called at the start, and then whenever the time has come that the last call returned. May be
    /// empty.
    std::function<base::TimePoint(const std::stop_token& stop)> maintain{};
    /// Called once at the end, when the queue is empty or `stop` was requested; it must not block
    /// then. May be empty.
    std::function<void(const std::stop_token& stop)> flush{};
  };

  /// Settings of a Pipeline.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    std::size_t capacity = 0;
    metrics::Counter dropped{};
    std::string component{};                     ///< the source of the events, for the log
    std::shared_ptr<base::Executor> executor{};  ///< null: the pipeline has a thread of its own
  };

  /// Calls the hooks from now on, so everything that they use must exist already.
  Pipeline(Options options, Hooks hooks)
      : clock_(options.clock),
        capacity_(options.capacity),
        dropped_(options.dropped),
        component_(std::move(options.component)),
        hooks_(std::move(hooks)),
        task_(std::move(options.executor), clock_,
              [this](const std::stop_token& stop) { return Step(stop); }) {
    task_.Start();
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  /// Drops the queued events.
  ~Pipeline() { Stop(base::Duration(0)); }

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
      task_.Wake();
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
    {
      const base::MutexLock lock(mu_);
      if (std::exchange(closed_, true)) {
        return;
      }
      until_ = until;
      changed_.notify_all();
    }
    task_.Wake();
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
    task_.RequestStop();
    if (MayFinish()) {  // else the step that runs does it
      std::stop_source stopped;
      stopped.request_stop();
      Finish(stopped.get_token());
    }
  }

 private:
  /// The time between two lines of the log about dropped events. A full queue stays full for a
  /// while, and would otherwise fill the log.
  static constexpr base::Duration kBetweenLines = std::chrono::minutes(1);

  /// Returns the time of the next step.
  base::TimePoint Step(const std::stop_token& stop) {
    {
      const base::MutexLock lock(mu_);
      if (finishes_) {
        return base::TimePoint::max();
      }
      is_in_step_ = true;
    }
    const std::optional<base::TimePoint> next = Work(stop);
    bool is_over = false;
    {
      const base::MutexLock lock(mu_);
      is_in_step_ = false;
      finishes_ = is_over = !next || stop.stop_requested();
    }
    if (is_over) {
      Finish(stop);
    }
    return is_over ? base::TimePoint::max() : *next;
  }

  /// Processes one event, if there is one. Returns when there is something to do again, and
  /// std::nullopt at the end.
  std::optional<base::TimePoint> Work(const std::stop_token& stop) {
    if (!std::exchange(has_begun_, true)) {
      Maintain(stop);
    }
    std::optional<E> event = Take(stop);
    if (event) {
      const base::Executor::Waiting waiting;  // for answers
      hooks_.process(*std::move(event), stop);
    }
    if (stop.stop_requested() || (!event && Closed())) {
      return std::nullopt;
    }
    Maintain(stop);
    return event ? clock_.Now() : due_;
  }

  void Maintain(const std::stop_token& stop) {
    if (!hooks_.maintain) {
      due_ = base::TimePoint::max();
    } else if (clock_.Now() >= due_) {
      const base::Executor::Waiting waiting;
      due_ = hooks_.maintain(stop);
    }
  }

  /// Whether the caller is the one that has to call Finish.
  bool MayFinish() {
    const base::MutexLock lock(mu_);
    return !is_in_step_ && !std::exchange(finishes_, true);
  }

  void Finish(const std::stop_token& stop) {
    if (hooks_.flush) {
      const base::Executor::Waiting waiting;
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

  /// Returns the next event; std::nullopt when there is none, or `stop` was requested.
  std::optional<E> Take(const std::stop_token& stop) {
    const base::MutexLock lock(mu_);
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
  bool is_in_step_ KX_GUARDED_BY(mu_) = false;
  bool finishes_ KX_GUARDED_BY(mu_) = false;  // or has finished
  bool done_ KX_GUARDED_BY(mu_) = false;
  // Both are used by steps only.
  bool has_begun_ = false;
  base::TimePoint due_{};     // when to call Hooks::maintain
  base::ScheduledTask task_;  // last: its steps use all of the above
};

}  // namespace kubexx::events::internal

#endif  // KUBEXX_EVENTS_INTERNAL_PIPELINE_H_
