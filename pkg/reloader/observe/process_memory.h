/// @file
/// Keeps the resident memory of the process small.
#ifndef KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_
#define KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_

#include <functional>
#include <stop_token>
#include <thread>

#include "kubexx/base/clock.h"
#include "kubexx/base/unused_memory.h"

namespace kubexx::reloader {

/// Makes malloc return freed memory to the system: it uses one arena instead of eight per core, and
/// always allocates large blocks from the system. Call it before the first thread starts.
void TuneAllocator();

/// Calls base::ReleaseUnusedMemory after the first lists have been processed, and from time to time
/// after that.
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
  };
  explicit MemoryKeeper(Options options);

 private:
  void Run(const std::stop_token& stop);

  const Options options_;
  std::jthread thread_;  // last: stops and joins before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_PROCESS_MEMORY_H_
