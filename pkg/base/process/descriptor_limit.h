/// @file
/// Raises the limit of open files.
#ifndef KUBEXX_BASE_PROCESS_DESCRIPTOR_LIMIT_H_
#define KUBEXX_BASE_PROCESS_DESCRIPTOR_LIMIT_H_

#include <system_error>

namespace kubexx::base {

/// Raises the limit of open files to the maximum that the process may have. Each watch is a
/// connection, which needs a descriptor, and on many systems a process begins with a limit of
/// 1,024. Go's runtime does the same for every program. Returns the error of the system call that
/// failed.
[[nodiscard]] std::error_code RaiseDescriptorLimit();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_PROCESS_DESCRIPTOR_LIMIT_H_
