/// @file
/// How many files the process may have open.
#ifndef KUBEXX_BASE_DESCRIPTOR_LIMIT_H_
#define KUBEXX_BASE_DESCRIPTOR_LIMIT_H_

#include <system_error>

namespace kubexx::base {

/// Raises the limit of open files to what the process is allowed: a watch is a connection, and a
/// connection a descriptor, of which many systems give a process 1,024 at first. Go's runtime does
/// the same for every program. Returns the error of the system's call that failed.
[[nodiscard]] std::error_code RaiseDescriptorLimit();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_DESCRIPTOR_LIMIT_H_
