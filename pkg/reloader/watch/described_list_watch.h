/// @file
/// Lists and watches the objects of a described kind of sources, which the operator can do without.
#ifndef KUBEXX_RELOADER_WATCH_DESCRIBED_LIST_WATCH_H_
#define KUBEXX_RELOADER_WATCH_DESCRIBED_LIST_WATCH_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/reloader/permissions/fallbacks.h"

namespace kubexx::reloader {

/// Passes requests on to `inner`, and tells Fallbacks when the API server refuses them or does not
/// have the kind, and when that is over. The errors stay errors, so what was listed before is kept,
/// and the reflector tries again. So an object counts as gone only when a list or a watch that
/// works says so. Thread-safe; for one reflector at a time.
class DescribedListWatch final : public cache::ListerWatcher {
 public:
  /// `kind` is that of the objects, and `space` their namespace, empty for all namespaces.
  DescribedListWatch(std::shared_ptr<cache::ListerWatcher> inner,
                     std::shared_ptr<Fallbacks> fallbacks, std::string kind, std::string space);

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override;
  bool CanStartWatch() const override { return inner_->CanStartWatch(); }
  apimachinery::Result<std::unique_ptr<cache::OpenWatch>> StartWatch(
      const apimachinery::ListOptions& options, std::stop_token stop) override;
  apimachinery::Result<std::string> CurrentVersion(std::stop_token stop) override {
    return inner_->CurrentVersion(std::move(stop));
  }

  /// Whether Fallbacks has been told of this error, so that nobody else need log it.
  static bool IsTold(const apimachinery::Status& status);

 private:
  Right RightTo(std::string_view verb) const;
  void ListHasFailed(const apimachinery::Status& status) const;
  apimachinery::Result<void> WatchHasEnded(apimachinery::Result<void> result) const;

  const std::shared_ptr<cache::ListerWatcher> inner_;
  const std::shared_ptr<Fallbacks> fallbacks_;
  const std::string kind_;
  const std::string namespace_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_DESCRIBED_LIST_WATCH_H_
