/// @file
/// Gives memory back to the system that the process does not need now.
#ifndef KUBEXX_BASE_UNUSED_MEMORY_H_
#define KUBEXX_BASE_UNUSED_MEMORY_H_

namespace kubexx::base {

/// Gives the system what the allocator holds and nobody uses, and the pages of program code and
/// constants that have been read so far: the system reads those that are needed again, most of
/// those of the start are not. Safe at any time; takes a few milliseconds. Thread-safe.
void ReleaseUnusedMemory();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_UNUSED_MEMORY_H_
