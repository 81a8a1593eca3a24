/// @file
/// Gives memory back to the system that the process does not need now.
#ifndef KUBEXX_BASE_UNUSED_MEMORY_H_
#define KUBEXX_BASE_UNUSED_MEMORY_H_

namespace kubexx::base {

/// Gives the system the memory that the allocator holds and nobody uses, and the pages of program
/// code and constants that have been read so far. The system reads pages again that are needed
/// again; most of those that the start needed are not. Safe at any time; takes a few milliseconds.
/// Thread-safe.
void ReleaseUnusedMemory();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_UNUSED_MEMORY_H_
