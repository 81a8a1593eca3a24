/// @file
/// CachedDiscovery: keeps what an API server said it serves.
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

/// In memory and, if wanted, in a file that the next process begins with, as client-go's cached
/// discovery clients. Of threads that find nothing cached one asks the server and the others wait
/// for its answer. Thread-safe.
class CachedDiscovery {
 public:
  using Snapshot = std::shared_ptr<const GroupList>;

  /// Where and how long answers are kept.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// Where to keep the groups between processes: one file for each server, in a folder that
    /// exists. A file that cannot be read or written counts as missing. When empty, groups are kept
    /// in memory only.
    std::string file{};
    /// The file counts for this long after the server was asked.
    std::chrono::seconds file_max_age = std::chrono::hours(6);
  };

  explicit CachedDiscovery(DiscoveryClient client)
      : CachedDiscovery(std::move(client), Options{}) {}
  CachedDiscovery(DiscoveryClient client, Options options);

  /// Returns what is cached, otherwise what the server says; never null in a success. An error is
  /// not cached.
  apimachinery::Result<Snapshot> Groups(std::stop_token stop = {});

  /// Returns something newer than `seen`: what another thread has fetched meanwhile, otherwise what
  /// the server says now.
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
