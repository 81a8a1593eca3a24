#include "kubexx/base/testing/scarce_memory/scarce_memory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>

namespace kubexx::base::testing {
namespace {

/// The thread that gets nothing; none: all get what they want.
std::atomic<std::thread::id> poor_thread{};
std::atomic<int> memory_refusals = 0;

}  // namespace

ScarceMemory::ScarceMemory(std::thread::id thread) {
  memory_refusals = 0;
  poor_thread = thread;
}
ScarceMemory::~ScarceMemory() { poor_thread = std::thread::id(); }

int ScarceMemory::failures() const { return memory_refusals; }

}  // namespace kubexx::base::testing

#if !KX_SANITIZED
namespace kubexx::base::testing {
namespace {

void* AllocateUnlessPoor(std::size_t size) noexcept {
  const std::thread::id poor = poor_thread.load(std::memory_order_relaxed);
  if (poor != std::thread::id() && poor == std::this_thread::get_id()) {
    ++memory_refusals;
    return nullptr;
  }
  return std::malloc(std::max<std::size_t>(size, 1));
}

}  // namespace
}  // namespace kubexx::base::testing

// The forms that everything but over-aligned types uses.
void* operator new(std::size_t size) {
  if (void* const block = kubexx::base::testing::AllocateUnlessPoor(size)) {
    return block;
  }
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return kubexx::base::testing::AllocateUnlessPoor(size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif
