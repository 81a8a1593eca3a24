/// @file
/// Gives memory that the process does not need back to the system.
#ifndef KUBEXX_BASE_UNUSED_MEMORY_H_
#define KUBEXX_BASE_UNUSED_MEMORY_H_

namespace kubexx::base {

/// Gives back the unused memory of the allocator, and the pages of program code and constants that
/// have been read so far. The system reads a page again when the program needs it, but the program
/// never again needs most of the pages that only its start used. Safe at any time; takes a few
/// milliseconds. Thread-safe.
void ReleaseUnusedMemory();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_UNUSED_MEMORY_H_
