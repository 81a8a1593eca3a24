/// @file
/// FollowedWatch: a watch whose events and end somebody sees on their way to the reader.
#ifndef KUBEXX_CACHE_WATCH_FOLLOWED_WATCH_H_
#define KUBEXX_CACHE_WATCH_FOLLOWED_WATCH_H_

#include <functional>
#include <memory>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::cache {

/// For ListerWatchers that stand in front of another one and implement StartWatch: it does for the
/// reader of an OpenWatch what they do around a call of Watch.
class FollowedWatch final : public OpenWatch {
 public:
  /// Gets each event, and passes it on, or returns an error, which ends the watch.
  using OnEvent = std::function<apimachinery::Result<void>(WatchEvent&&, EventSink)>;
  /// Gets the result as ListerWatcher::Watch would return it, and returns what the reader is told.
  /// Called once, also when the reader gives the watch up, with kCancelled.
  using OnEnd = std::function<apimachinery::Result<void>(apimachinery::Result<void>)>;

  /// Without `on_event` the events go straight to the reader. The functions are called by the
  /// reader and by the destructor, so what they refer to must outlive the watch.
  FollowedWatch(std::unique_ptr<OpenWatch> inner, OnEvent on_event, OnEnd on_end);
  FollowedWatch(const FollowedWatch&) = delete;
  FollowedWatch& operator=(const FollowedWatch&) = delete;
  ~FollowedWatch() override;

  apimachinery::Result<Found> Read(EventSink sink) override;
  void Notify(std::function<void()> tell) override { inner_->Notify(std::move(tell)); }
  base::TimePoint Arm() override { return inner_->Arm(); }

 private:
  std::unique_ptr<OpenWatch> inner_;
  const OnEvent on_event_;
  const OnEnd on_end_;
  bool has_ended_ = false;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_WATCH_FOLLOWED_WATCH_H_
