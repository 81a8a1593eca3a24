#include "kubexx/base/host_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace kubexx::base {
namespace {

constexpr int kMaxLookupThreads = 64;

std::atomic<int> lookup_threads = 0;

HostAddresses AskResolver(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICSERV | flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); error != 0) {
    return {.error = error, .system_error = error == EAI_SYSTEM ? errno : 0};
  }
  HostAddresses found;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    if ((each->ai_family == AF_INET || each->ai_family == AF_INET6) &&
        each->ai_addrlen <= sizeof(address.storage)) {
      std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
      address.size = each->ai_addrlen;
      found.addresses.push_back(address);
    }
  }
  ::freeaddrinfo(list);
  found.error = found.addresses.empty() ? EAI_NONAME : 0;
  return found;
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

void LookUpHost(const std::string& host, const std::string& port,
                std::move_only_function<void(HostAddresses)> done) {
  if (IsAddress(host)) {
    done(AskResolver(host, port, AI_NUMERICHOST));  // asks nobody, so it does not wait
    return;
  }
  if (lookup_threads.fetch_add(1) >= kMaxLookupThreads) {
    lookup_threads.fetch_sub(1);
    done({.error = kTooManyLookups});
    return;
  }
  // Where the thread cannot be started, `done` is still here.
  auto shared = std::make_shared<std::move_only_function<void(HostAddresses)>>(std::move(done));
  try {
    std::thread([shared, host, port] {
      (*shared)(AskResolver(host, port, AI_ADDRCONFIG));
      lookup_threads.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {
    lookup_threads.fetch_sub(1);
    (*shared)({.error = EAI_MEMORY});
  }
}

}  // namespace kubexx::base
