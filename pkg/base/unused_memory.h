/// @file
/// Gives memory that the process does not need back to the system.
#ifndef KUBEXX_BASE_UNUSED_MEMORY_H_
#define KUBEXX_BASE_UNUSED_MEMORY_H_

namespace kubexx::base {

/// Gives back the unused memory of the allocator, and the pages of program code and constants that
/// have been read so far. The system reads pages again when they are needed, but most pages that
/// the start of the program needed are not. Safe at any time; takes a few milliseconds.
/// Thread-safe.
void ReleaseUnusedMemory();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_UNUSED_MEMORY_H_
