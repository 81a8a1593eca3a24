#include "kubexx/base/host_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"

namespace kubexx::base {
namespace {

constexpr std::size_t kMaxLookupThreads = 64;

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

using LookupDone = std::move_only_function<void(HostAddresses)>;

/// The lookups that are under way, each with a thread. Thread-safe.
class HostLookups {
 public:
  void Start(const std::string& host, const std::string& port, LookupDone done) {
    const Key key(host, port);
    std::vector<LookupDone> first;
    first.push_back(std::move(done));
    {
      const MutexLock lock(mu_);
      const auto same = waiting_.find(key);
      if (same != waiting_.end()) {
        same->second.push_back(std::move(first.front()));
        return;
      }
      if (waiting_.size() < kMaxLookupThreads) {
        waiting_.emplace(key, std::move(first));
        first.clear();
      }
    }
    if (!first.empty()) {
      first.front()({.error = kTooManyLookups});
      return;
    }
    try {
      std::thread([this, key] {
        End(key, AskResolver(key.first, key.second, AI_ADDRCONFIG));
      }).detach();
    } catch (...) {  // There is no thread, or no memory for one.
      End(key, {.error = EAI_MEMORY});
    }
  }

 private:
  using Key = std::pair<std::string, std::string>;

  void End(const Key& key, const HostAddresses& found) {
    std::vector<LookupDone> all;
    {
      const MutexLock lock(mu_);
      all = std::move(waiting_.extract(key).mapped());
    }
    for (LookupDone& done : all) {
      done(found);
    }
  }

  Mutex mu_;
  std::map<Key, std::vector<LookupDone>> waiting_ KX_GUARDED_BY(mu_);
};

}  // namespace

void LookUpHost(const std::string& host, const std::string& port, LookupDone done) {
  if (IsAddress(host)) {
    done(AskResolver(host, port, AI_NUMERICHOST));  // asks nobody, so it does not wait
    return;
  }
  // Never destroyed: the threads are not joined.
  static auto* const lookups = new HostLookups;
  lookups->Start(host, port, std::move(done));
}

}  // namespace kubexx::base
