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
    : options_(std::move(options)),
      task_(options_.executor, options_.clock, [this](const std::stop_token&) { return Step(); }) {
  task_.Start();
}

base::TimePoint MemoryKeeper::Step() {
  const base::TimePoint now = options_.clock.Now();
  if (now < next_) {
    return next_;
  }
  if (next_ == base::TimePoint()) {
    options_.release();  // returns the memory that the start needed
  }
  if (wait_ == base::Duration(0) && !options_.ready()) {
    next_ = now + options_.poll;
    return next_;
  }
  options_.release();
  wait_ = wait_ == base::Duration(0) ? options_.first_wait : std::min(2 * wait_, options_.period);
  next_ = options_.clock.Now() + wait_;
  return next_;
}

}  // namespace kubexx::reloader
