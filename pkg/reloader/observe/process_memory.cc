#include "kubexx/reloader/observe/process_memory.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

namespace kubexx::reloader {
namespace {

constexpr int kArenas = 1;
constexpr int kLargeBlock = 64 << 10;
constexpr int kKeptAtTop = 128 << 10;

}  // namespace

void TuneAllocator() {
  mallopt(M_ARENA_MAX, kArenas);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, kKeptAtTop);
}

MemoryKeeper::MemoryKeeper(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void MemoryKeeper::Run(const std::stop_token& stop) {
  options_.release();  // returns the memory that the start needed
  while (!options_.ready()) {
    if (!options_.clock.SleepFor(options_.poll, stop)) {
      return;
    }
  }
  options_.release();
  base::Duration wait = options_.first_wait;
  while (options_.clock.SleepFor(wait, stop)) {
    options_.release();
    wait = std::min(2 * wait, options_.period);
  }
}

}  // namespace kubexx::reloader
