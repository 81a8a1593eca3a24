/// @file
/// Keeps the resident memory of the process small.
#ifndef KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_
#define KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_

#include <functional>
#include <memory>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/scheduled_task.h"
#include "kubexx/base/unused_memory.h"

namespace kubexx::reloader {

/// Makes malloc return freed memory to the system: it uses one arena instead of eight per core, and
/// always allocates large blocks from the system. Call it before the first thread starts.
void TuneAllocator();

/// Calls base::ReleaseUnusedMemory after the first lists have been processed, and from time to time
/// after that, as a task of an executor.
class MemoryKeeper {
 public:
  struct Options {
    /// Returns whether the first lists have arrived.
    std::function<bool()> ready;
    std::function<void()> release = base::ReleaseUnusedMemory;
    base::Clock& clock = base::Clock::Real();
    /// How often `ready` is called.
    base::Duration poll = std::chrono::milliseconds(250);
    /// The time from the first lists to the next release; it doubles up to `period`.
    base::Duration first_wait = std::chrono::seconds(1);
    base::Duration period = std::chrono::seconds(30);
    /// Runs the calls; null: one of this object's own.
    std::shared_ptr<base::Executor> executor{};
  };
  /// Throws std::system_error when the system has not enough threads.
  explicit MemoryKeeper(Options options);

 private:
  base::TimePoint Step();

  const Options options_;
  // Both are of the task alone.
  base::Duration wait_{};     ///< zero before the first lists
  base::TimePoint next_{};    ///< when there is something to do
  base::ScheduledTask task_;  // last: stops before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_
