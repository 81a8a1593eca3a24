#include "kubexx/apiserver/storage/testing/watch_recorder.h"

#include <stop_token>
#include <utility>

namespace kubexx::apiserver::storage::testing {
WatchRecorder::WatchRecorder(Storage& storage, std::string prefix, WatchOptions options,
                             std::function<void(const Event&)> on_event)
    : thread_([this, &storage, prefix = std::move(prefix), options,
               on_event = std::move(on_event)](const std::stop_token& stop) {
        const auto sink = [this, &on_event](EventRef event) -> apimachinery::Result<void> {
          if (on_event) {
            on_event(*event);
          }
          base::MutexLock lock(mu_);
          if (event->type == Event::Type::kProgress) {
            progress_ = event->kv.mod_revision;
          } else {
            events_.push_back(std::move(event));
          }
          changed_.notify_all();
          return {};
        };
        apimachinery::Result<void> result = storage.Watch(prefix, options, sink, stop);
        base::MutexLock lock(mu_);
        ended_ = true;
        if (!result) {
          end_ = result.error();
        }
        changed_.notify_all();
      }) {}

std::vector<EventRef> WatchRecorder::Await(std::size_t count, const base::testing::Where& where) {
  base::MutexLock lock(mu_);
  base::testing::Patience patience(std::to_string(count) + " events of a watch", where);
  while (events_.size() < count && !ended_) {
    patience.Wait(changed_, mu_, events_.size());
  }
  return events_;
}

Revision WatchRecorder::AwaitProgress(Revision revision, const base::testing::Where& where) {
  base::MutexLock lock(mu_);
  base::testing::Patience patience("a watch's progress to " + std::to_string(revision), where);
  while (progress_ < revision && !ended_) {
    patience.Wait(changed_, mu_, progress_);
  }
  return progress_;
}

apimachinery::Status WatchRecorder::AwaitEnd(const base::testing::Where& where) {
  base::MutexLock lock(mu_);
  base::testing::Patience patience("the end of a watch", where);
  while (!ended_) {
    patience.Wait(changed_, mu_, events_.size());
  }
  return end_;
}

}  // namespace kubexx::apiserver::storage::testing
