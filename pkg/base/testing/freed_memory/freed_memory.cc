#include "kubexx/base/testing/freed_memory/freed_memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
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

void Free(void* block) noexcept {
  kubexx::base::testing::LookAt(block, block == nullptr ? 0 : ::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

// The forms that containers use. The others stay as they are, so that a sanitizer still tells of
// memory that one form has taken and another gives back.
void* operator new(std::size_t size) {
  if (void* const block = Allocate(size)) {
    return block;
  }
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void operator delete(void* block) noexcept { Free(block); }
void operator delete(void* block, std::size_t) noexcept { Free(block); }
