/// @file
/// A storage that takes its time.
#ifndef KUBEXX_TEST_SIMULATION_SLOW_STORAGE_H_
#define KUBEXX_TEST_SIMULATION_SLOW_STORAGE_H_

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "oracle/random.h"

namespace kubexx::simulation {

/// Hands all calls on to another storage, but some writes and some events take up to a few
/// milliseconds, as with etcd. Virtual time stands still while a thread can run, so without this
/// nobody would ever write between the moment in which a server reads an object and the one in
/// which it writes it, and the server's own cache would never be behind. Thread-safe.
class SlowStorage : public apiserver::storage::Storage {
 public:
  /// `storage` must outlive it.
  SlowStorage(apiserver::storage::Storage& storage, oracle::Random random)
      : storage_(storage), random_(random) {}

  /// Of a thousand writes and events, so many are slow from now on; at first none.
  void SetRate(std::uint64_t per_mille) { rate_ = per_mille; }
  std::uint64_t rate() const { return rate_; }

  apimachinery::Result<apiserver::storage::KeyValue> Get(std::string_view key,
                                                         apiserver::storage::Revision revision,
                                                         std::stop_token stop) override;
  apimachinery::Result<apiserver::storage::KeyValue> Create(std::string_view key, std::string value,
                                                            std::stop_token stop) override;
  apimachinery::Result<apiserver::storage::Swap> CompareAndSwap(
      std::string_view key, apiserver::storage::Revision expected, std::string value,
      std::stop_token stop) override;
  apimachinery::Result<apiserver::storage::Deleted> Delete(std::string_view key,
                                                           apiserver::storage::Revision expected,
                                                           std::stop_token stop) override;
  apimachinery::Result<apiserver::storage::ListResult> GetList(
      std::string_view prefix, const apiserver::storage::ListOptions& options, ItemSink sink,
      std::stop_token stop) override;
  apimachinery::Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override;
  apimachinery::Result<apiserver::storage::Revision> CurrentRevision(std::stop_token stop) override;
  apimachinery::Result<void> Watch(std::string_view prefix,
                                   const apiserver::storage::WatchOptions& options, EventSink sink,
                                   std::stop_token stop) override;
  void RequestProgress(std::string_view prefix) override;
  apimachinery::Result<void> Compact(apiserver::storage::Revision revision,
                                     std::stop_token stop) override;
  apiserver::storage::StorageHealth CheckHealth(base::Duration timeout,
                                                std::stop_token stop) override;

 private:
  void TakeTime(const std::stop_token& stop);

  apiserver::storage::Storage& storage_;
  std::atomic<std::uint64_t> rate_ = 0;
  base::Mutex mu_;
  oracle::Random random_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_SLOW_STORAGE_H_
