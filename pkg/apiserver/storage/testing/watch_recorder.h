/// @file
/// Watches on a thread of its own and keeps what comes.
#ifndef KUBEXX_APISERVER_STORAGE_TESTING_WATCH_RECORDER_H_
#define KUBEXX_APISERVER_STORAGE_TESTING_WATCH_RECORDER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver::storage::testing {

using EventRef = std::shared_ptr<const Event>;

/// One watch. Its destructor ends it. Waits have an end (base::testing::Patience).
class WatchRecorder {
 public:
  /// `on_event` runs on the watching thread, before the event is kept; it may block.
  WatchRecorder(Storage& storage, std::string prefix, WatchOptions options,
                std::function<void(const Event&)> on_event = nullptr);

  /// The events but progress, when there are `count` or the watch ended.
  std::vector<EventRef> Await(std::size_t count,
                              const base::testing::Where& where = base::testing::Where::current())
      KX_EXCLUDES(mu_);
  /// The first progress of `revision` or higher.
  Revision AwaitProgress(Revision revision,
                         const base::testing::Where& where = base::testing::Where::current())
      KX_EXCLUDES(mu_);
  /// How it ended.
  apimachinery::Status AwaitEnd(const base::testing::Where& where = base::testing::Where::current())
      KX_EXCLUDES(mu_);
  void Stop() { thread_.request_stop(); }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<EventRef> events_ KX_GUARDED_BY(mu_);
  Revision progress_ KX_GUARDED_BY(mu_) = 0;
  bool ended_ KX_GUARDED_BY(mu_) = false;
  apimachinery::Status end_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

}  // namespace kubexx::apiserver::storage::testing

#endif  // KUBEXX_APISERVER_STORAGE_TESTING_WATCH_RECORDER_H_
