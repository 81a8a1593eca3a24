/// @file
/// Finds secrets in memory that a program frees.
#ifndef KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_
#define KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_

#include <functional>
#include <string_view>

namespace kubexx::base::testing {

/// Runs `run` and returns how many blocks of memory it freed that contained `mark`. A secret that
/// must be wiped is in none of them. Counts only blocks that the calling thread frees with
/// `delete`, as the containers of the standard library do, and not with `free`.
///
/// A program that links kubexx_freed_memory has its own allocation functions for this. They fill
/// new blocks with zeros, so that a block contains nothing of an earlier block.
int CountFreedWith(std::string_view mark, const std::function<void()>& run);

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_FREED_MEMORY_FREED_MEMORY_H_
