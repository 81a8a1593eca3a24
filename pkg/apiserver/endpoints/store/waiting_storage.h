/// @file
/// A storage that keeps the server going while the store does not answer.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_WAITING_STORAGE_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_WAITING_STORAGE_H_

#include <cstdint>
#include <list>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Forwards calls to another storage, for a store behind a network, which may hang. Calls of the
/// server's own threads go there unchanged. A call of a request (see CurrentRequest)
/// - leaves its handler thread to other requests (see http::Waiting) once it has had no answer for
///   a tenth of a second, and from then on at once, until the store answers. So reads of caches,
///   for example, go on. A request with a large body keeps its thread, because few of them may have
///   one, and their bodies would need too much memory;
/// - is not made while the store is silent and too many requests wait already, and then returns
///   kTooManyRequests;
/// - returns kTimeout at the deadline of the request, which the client may have set.
/// As long as the store answers, requests wait for a handler thread, as without this class.
/// Thread-safe; owns a thread.
class WaitingStorage final : public storage::Storage {
 public:
  template <class T>
  using Result = apimachinery::Result<T>;

  /// `storage` must outlive it.
  explicit WaitingStorage(storage::Storage& storage);
  ~WaitingStorage() override;

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override;
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override;
  Result<storage::Swap> CompareAndSwap(std::string_view key, storage::Revision expected,
                                       std::string value, std::stop_token stop) override;
  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override;
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override;
  Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override;
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override;
  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override;
  void RequestProgress(std::string_view prefix) override { storage_.RequestProgress(prefix); }
  Result<void> Compact(storage::Revision revision, std::stop_token stop) override;
  storage::StorageHealth CheckHealth(base::Duration timeout, std::stop_token stop) override;

 private:
  class CallUnderWay;

  /// Makes a call with the stop token of its CallUnderWay.
  template <class T, class Function>
  Result<T> Make(const std::stop_token& stop, Function call);
  // The analysis does not know that a call's owner is this object.
  void LookAfterCalls(const std::stop_token& stop) KX_THREAD_ANNOTATION(no_thread_safety_analysis);
  /// Makes the thread look at the calls at this time, if not before.
  void LookAtLocked(base::TimePoint due) KX_REQUIRES(mu_);
  void NoteAnswer();

  storage::Storage& storage_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::list<CallUnderWay*> calls_ KX_GUARDED_BY(mu_);  // of requests
  /// When the thread looks at the calls next; TimePoint::max() while there is nothing to look for.
  base::TimePoint next_look_ KX_GUARDED_BY(mu_) = base::TimePoint::max();
  bool silent_ KX_GUARDED_BY(mu_) = false;  // see the comment of the class
  std::jthread thread_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_WAITING_STORAGE_H_
