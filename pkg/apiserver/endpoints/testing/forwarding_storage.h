/// @file
/// A storage over another one, of which a test changes some calls.
#ifndef KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_
#define KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::testing {

/// Does what the other one does; the base of storages that do not. Thread-safe.
class ForwardingStorage : public storage::Storage {
 public:
  template <class T>
  using Result = apimachinery::Result<T>;

  /// `storage` must outlive it.
  explicit ForwardingStorage(storage::Storage& storage) : storage_(storage) {}

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    return storage_.Get(key, revision, std::move(stop));
  }
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    return storage_.Create(key, std::move(value), std::move(stop));
  }
  Result<storage::Swap> CompareAndSwap(std::string_view key, storage::Revision expected,
                                       std::string value, std::stop_token stop) override {
    return storage_.CompareAndSwap(key, expected, std::move(value), std::move(stop));
  }
  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override {
    return storage_.Delete(key, expected, std::move(stop));
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    return storage_.GetList(prefix, options, sink, std::move(stop));
  }
  Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override {
    return storage_.Count(prefix, std::move(stop));
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    return storage_.CurrentRevision(std::move(stop));
  }
  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    return storage_.Watch(prefix, options, sink, std::move(stop));
  }
  void RequestProgress(std::string_view prefix) override { storage_.RequestProgress(prefix); }
  Result<void> Compact(storage::Revision revision, std::stop_token stop) override {
    return storage_.Compact(revision, std::move(stop));
  }

 private:
  storage::Storage& storage_;
};

}  // namespace kubexx::apiserver::testing

#endif  // KUBEXX_APISERVER_ENDPOINTS_TESTING_FORWARDING_STORAGE_H_
