/// @file
/// LookUpHost: finds the addresses of a host without blocking a thread of the caller on a resolver
/// that does not answer.
#ifndef KUBEXX_BASE_HOST_LOOKUP_H_
#define KUBEXX_BASE_HOST_LOOKUP_H_

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

namespace kubexx::base {

/// An address to connect to, in the form that system calls take. A value type.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// The result of a lookup. A value type.
struct HostAddresses {
  /// 0, or why there are no addresses: one of the EAI_ numbers of getaddrinfo(3), or
  /// kTooManyLookups.
  int error = 0;
  int system_error = 0;  ///< errno when `error` is EAI_SYSTEM
  /// The addresses, in the system's order of preference; not empty unless there is an error.
  std::vector<SocketAddress> addresses{};
};

/// The error of a lookup for which there was no thread, because 64 others were already under way.
inline constexpr int kTooManyLookups = -1000;

/// Finds the addresses of `host`, which is a name or an IPv4 or IPv6 address without brackets;
/// `port` is a number. Calls `done` once: for an address before this function returns, and for a
/// name later, on a thread that nobody joins, since getaddrinfo(3) cannot be interrupted. Lookups
/// of the same host and port that are under way share one thread and its answer, as in Go's
/// net.Resolver. A process has at most 64 such threads. `done` must not throw, and must not refer
/// to anything that may no longer exist when it is called. Thread-safe.
void LookUpHost(const std::string& host, const std::string& port,
                std::move_only_function<void(HostAddresses)> done);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_HOST_LOOKUP_H_
