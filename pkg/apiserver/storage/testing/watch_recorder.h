/// @file
/// Watches a store on its own thread and records the events.
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

/// One watch. The destructor ends it. No function waits for ever (see base::testing::Patience).
class WatchRecorder {
 public:
  /// `on_event` runs on the watching thread before the event is recorded. It may block.
  WatchRecorder(Storage& storage, std::string prefix, WatchOptions options,
                std::function<void(const Event&)> on_event = nullptr);

  /// Waits until there are `count` events or the watch has ended, and returns the events without
  /// kProgress.
  std::vector<EventRef> Await(std::size_t count,
                              const base::testing::Where& where = base::testing::Where::current())
      KX_EXCLUDES(mu_);
  /// Waits for a kProgress event of `revision` or higher and returns its revision.
  Revision AwaitProgress(Revision revision,
                         const base::testing::Where& where = base::testing::Where::current())
      KX_EXCLUDES(mu_);
  /// Waits until the watch has ended and returns its error.
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
