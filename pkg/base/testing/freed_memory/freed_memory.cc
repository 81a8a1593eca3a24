#include "kubexx/base/testing/freed_memory/freed_memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>
#include <utility>

namespace kubexx::base::testing {
namespace {

struct Search {
  std::string_view mark;
  int found = 0;
};
thread_local Search* running_search = nullptr;

void LookAt(const void* block, std::size_t size) noexcept {
  if (running_search != nullptr && block != nullptr) {
    const std::string_view bytes(static_cast<const char*>(block), size);
    running_search->found += bytes.find(running_search->mark) != std::string_view::npos ? 1 : 0;
  }
}

}  // namespace

int CountFreedWith(std::string_view mark, const std::function<void()>& run) {
  Search search{.mark = mark};
  Search* const outer = std::exchange(running_search, &search);
  run();
  running_search = outer;
  return search.found;
}

}  // namespace kubexx::base::testing

namespace {

void* Allocate(std::size_t size) noexcept { return std::calloc(1, std::max<std::size_t>(size, 1)); }

void* Allocate(std::size_t size, std::align_val_t alignment) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t whole = (std::max<std::size_t>(size, 1) + step - 1) / step * step;
  void* const block = std::aligned_alloc(step, whole);
  if (block != nullptr) {
    std::memset(block, 0, whole);
  }
  return block;
}

void* OrThrow(void* block) {
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

void Free(void* block) noexcept {
  kubexx::base::testing::LookAt(block, block == nullptr ? 0 : ::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

// All of them, so that no block is taken by one set of functions and given back by another.
void* operator new(std::size_t size) { return OrThrow(Allocate(size)); }
void* operator new[](std::size_t size) { return OrThrow(Allocate(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}

void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, std::size_t) noexcept { Free(block); }
void operator delete[](void* block, std::size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(block);
}
