#include "kubexx/apiserver/storage/testing/watch_recorder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <utility>

namespace kubexx::apiserver::storage::testing {
namespace {

base::TimePoint Deadline() { return base::Clock::Real().Now() + std::chrono::seconds(30); }

}  // namespace

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

bool WatchRecorder::WaitLocked(base::TimePoint deadline) {
  if (base::Clock::Real().WaitUntil(mu_, changed_, std::stop_token(), deadline) ==
      base::Wake::kTimeout) {
    ADD_FAILURE() << "the watch did not give what was waited for; it gave " << events_.size();
    return false;
  }
  return true;
}

std::vector<EventRef> WatchRecorder::Await(std::size_t count) {
  const base::TimePoint deadline = Deadline();
  base::MutexLock lock(mu_);
  while (events_.size() < count && !ended_ && WaitLocked(deadline)) {
  }
  return events_;
}

Revision WatchRecorder::AwaitProgress(Revision revision) {
  const base::TimePoint deadline = Deadline();
  base::MutexLock lock(mu_);
  while (progress_ < revision && !ended_ && WaitLocked(deadline)) {
  }
  return progress_;
}

apimachinery::Status WatchRecorder::AwaitEnd() {
  const base::TimePoint deadline = Deadline();
  base::MutexLock lock(mu_);
  while (!ended_ && WaitLocked(deadline)) {
  }
  return end_;
}

}  // namespace kubexx::apiserver::storage::testing
