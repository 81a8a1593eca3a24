/// @file
/// Finds what is left in memory that a program gives back.
#ifndef KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_
#define KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_

#include <functional>
#include <string_view>

namespace kubexx::base::testing {

/// Runs `run` and returns how many blocks of memory it gave back with `mark` in them: a secret that
/// is to be wiped is in none. Counts what the calling thread gives back with `delete`, as the
/// containers of the standard library do, not what it gives back with `free`.
///
/// A program that links kubexx_freed_memory has allocation functions of its own for this. They fill
/// new blocks with zeros, so that a block holds nothing of what another left there.
int CountFreedWith(std::string_view mark, const std::function<void()>& run);

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_
