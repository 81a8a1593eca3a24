// Memory of this process is overwritten when it is freed.
//
// Secrets pass through buffers of cpprestsdk, Boost.Asio and OpenSSL, which give them back as they
// are. What is freed would stay readable, in a core dump too, until somebody else uses the place.
// These replace the C library's functions for the whole process; operator delete ends in free, too.
// The sanitizers bring functions of their own, and a library that is not glibc lacks the other
// names.
#include <features.h>

#include "kubexx/base/sanitizers.h"

#if defined(__GLIBC__) && !KX_SANITIZED
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" {

// What the C library's own functions of these names do.
void __libc_free(void* block);  // NOLINT(bugprone-reserved-identifier): the name is the library's

void free(void* block) {
  if (block == nullptr) {
    return;
  }
  const int saved = errno;
  explicit_bzero(block, malloc_usable_size(block));
  __libc_free(block);
  errno = saved;
}

void* realloc(void* block, std::size_t size) {
  if (block == nullptr) {
    return std::malloc(size);
  }
  if (size == 0) {
    free(block);
    return nullptr;
  }
  const std::size_t old_size = malloc_usable_size(block);
  // Not worth moving: half of it or more is used.
  if (size <= old_size && size >= old_size / 2) {
    return block;
  }
  void* moved = std::malloc(size);
  if (moved != nullptr) {
    std::memcpy(moved, block, std::min(size, old_size));
    free(block);
  }
  return moved;
}

}  // extern "C"
#endif
