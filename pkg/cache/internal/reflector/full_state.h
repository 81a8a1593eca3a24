/// @file
/// FullState: the full state that a Reflector is reading.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_FULL_STATE_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_FULL_STATE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/reflector_store.h"

namespace kubexx::cache::internal {

/// Passes the objects of one full state after the other to a store, and keeps the metrics of full
/// states. Call Begin first; all other functions belong to the state that the last Begin began, and
/// may be called until its Commit. Not thread-safe.
class FullState {
 public:
  /// `name` is for the log. `store_mu` is held while the store itself is called.
  FullState(const std::string& name, ReflectorStore& store, base::Mutex& store_mu,
            const ReflectorMetrics& metrics, base::Clock& clock)
      : name_(name), store_(store), store_mu_(store_mu), metrics_(metrics), clock_(clock) {}

  /// Begins a state. Drops the last one if it has not been committed.
  void Begin();
  apimachinery::Result<void> Add(Object&& object) {
    ++items_;
    return replacement_->Add(std::move(object));
  }
  apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key) {
    return replacement_->Delete(key);
  }
  /// Records that an object of the state cannot be read.
  apimachinery::Result<void> Unreadable(const apimachinery::Status& why) {
    ++items_;
    return replacement_->Unreadable(why);
  }
  /// Makes the state the store's content.
  apimachinery::Result<void> Commit(const std::string& resource_version);

 private:
  const std::string& name_;
  ReflectorStore& store_;
  base::Mutex& store_mu_;
  const ReflectorMetrics& metrics_;
  base::Clock& clock_;
  std::unique_ptr<Replacement> replacement_{};
  base::TimePoint began_{};
  std::size_t items_ = 0;
  bool committed_once_ = false;
};

}  // namespace kubexx::cache::internal

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_FULL_STATE_H_
