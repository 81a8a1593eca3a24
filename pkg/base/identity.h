/// @file
/// Names that distinguish a process from others.
#ifndef KUBEXX_BASE_IDENTITY_H_
#define KUBEXX_BASE_IDENTITY_H_

#include <string>

namespace kubexx::base {

/// Returns a random UUID (RFC 9562, version 4) in lower case, for example
/// "0b6ac7f3-93b6-4d7a-8d35-b2b7e9d3a9d1". Thread-safe.
std::string RandomUuid();

/// Returns the host's name as gethostname does, which in a pod is the pod's name, or "localhost" if
/// there is none. Thread-safe.
std::string HostName();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_IDENTITY_H_
