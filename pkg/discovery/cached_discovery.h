/// @file
/// CachedDiscovery: remembers which groups and resources an API server serves.
#ifndef KUBEXX_DISCOVERY_CACHED_DISCOVERY_H_
#define KUBEXX_DISCOVERY_CACHED_DISCOVERY_H_

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/discovery/discovery_client.h"

namespace kubexx::discovery {

/// Caches discovery in memory and, optionally, in a file that the next process loads. Semantics:
/// client-go's cached discovery clients. If several threads find nothing cached, one of them asks
/// the server and the others wait for its answer. Thread-safe.
class CachedDiscovery {
 public:
  using Snapshot = std::shared_ptr<const GroupList>;

  /// Where answers are kept, and for how long.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// The file that keeps the groups between processes: a separate file for each server, in an
    /// existing folder. A file that cannot be read or written counts as missing. If empty, groups
    /// are kept in memory only.
    std::string file{};
    /// How long the file is valid after the server was asked.
    std::chrono::seconds file_max_age = std::chrono::hours(6);
  };

  explicit CachedDiscovery(DiscoveryClient client)
      : CachedDiscovery(std::move(client), Options{}) {}
  CachedDiscovery(DiscoveryClient client, Options options);

  /// Returns the cached groups, or asks the server if there are none. A success is never null.
  /// Errors are not cached.
  apimachinery::Result<Snapshot> Groups(std::stop_token stop = {});

  /// Returns groups that are newer than `seen`: those that another thread has fetched in the
  /// meantime, or else the server's answer now.
  apimachinery::Result<Snapshot> Refresh(const Snapshot& seen, std::stop_token stop = {});

  const DiscoveryClient& client() const { return client_; }

 private:
  apimachinery::Result<Snapshot> Load(bool may_use_file, const std::stop_token& stop) const;
  Snapshot ReadFile() const;
  void WriteFile(const GroupList& groups) const;

  const DiscoveryClient client_;
  const Options options_;
  base::Mutex mu_;
  base::CondVar loaded_;
  bool loading_ KX_GUARDED_BY(mu_) = false;
  Snapshot snapshot_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::discovery

#endif  // KUBEXX_DISCOVERY_CACHED_DISCOVERY_H_
