/// @file
/// A storage that forwards calls to another one, so that a test can override some of them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_
#define KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::testing {

/// Forwards all calls to the other storage. A base class for storages that override some calls.
/// Thread-safe.
class ForwardingStorage : public storage::Storage {
 public:
  template <class T>
  using Result = apimachinery::Result<T>;

  /// `storage` must outlive it.
  explicit ForwardingStorage(storage::Storage& storage) : storage_(&storage) {}

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    return storage()->Get(key, revision, std::move(stop));
  }
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    return storage()->Create(key, std::move(value), std::move(stop));
  }
  Result<storage::Swap> CompareAndSwap(std::string_view key, storage::Revision expected,
                                       std::string value, std::stop_token stop) override {
    return storage()->CompareAndSwap(key, expected, std::move(value), std::move(stop));
  }
  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override {
    return storage()->Delete(key, expected, std::move(stop));
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    return storage()->GetList(prefix, options, sink, std::move(stop));
  }
  Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override {
    return storage()->Count(prefix, std::move(stop));
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    return storage()->CurrentRevision(std::move(stop));
  }
  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    return storage()->Watch(prefix, options, sink, std::move(stop));
  }
  void RequestProgress(std::string_view prefix) override { storage()->RequestProgress(prefix); }
  Result<void> Compact(storage::Revision revision, std::stop_token stop) override {
    return storage()->Compact(revision, std::move(stop));
  }

 protected:
  /// The storage to which calls are forwarded now.
  storage::Storage* storage() const { return storage_; }
  /// Forwards later calls to another storage, which must outlive this one.
  void PassOnTo(storage::Storage& storage) { storage_ = &storage; }

 private:
  std::atomic<storage::Storage*> storage_;
};

}  // namespace kubexx::apiserver::testing

#endif  // KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_
