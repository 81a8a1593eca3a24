#include "kubexx/reloader/watch/described_list_watch.h"

#include <string_view>
#include <utility>

#include "kubexx/cache/watch/followed_watch.h"

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

namespace {

constexpr std::string_view kListVerb = "list";
constexpr std::string_view kWatchVerb = "watch";
constexpr std::string_view kConsequence = "changes of these objects roll nothing";

}  // namespace

DescribedListWatch::DescribedListWatch(std::shared_ptr<cache::ListerWatcher> inner,
                                       std::shared_ptr<Fallbacks> fallbacks, std::string kind,
                                       std::string space)
    : inner_(std::move(inner)),
      fallbacks_(std::move(fallbacks)),
      kind_(std::move(kind)),
      namespace_(std::move(space)) {}

bool DescribedListWatch::IsTold(const Status& status) {
  return status.reason == Reason::kForbidden || status.reason == Reason::kNotFound;
}

Right DescribedListWatch::RightTo(std::string_view verb) const {
  return {.kind = kind_, .verb = verb, .namespace_ = namespace_};
}

void DescribedListWatch::ListHasFailed(const Status& status) const {
  if (status.reason == Reason::kForbidden) {
    fallbacks_->Refused(RightTo(kListVerb), status, kConsequence);
  } else if (status.reason == Reason::kNotFound) {
    fallbacks_->Refused(RightTo(Fallbacks::kServed), status, kConsequence);
  }
}

Result<codec::ListMeta> DescribedListWatch::List(const ListOptions& options, ObjectSink sink,
                                                 std::stop_token stop) {
  auto listed = inner_->List(options, sink, std::move(stop));
  if (!listed) {
    ListHasFailed(listed.error());
  } else if (listed->continue_.empty()) {
    fallbacks_->Granted(RightTo(kListVerb));
    fallbacks_->Granted(RightTo(Fallbacks::kServed));
  }
  return listed;
}

Result<void> DescribedListWatch::WatchHasEnded(Result<void> result) const {
  if (!result && result.error().reason == Reason::kForbidden) {
    fallbacks_->Refused(RightTo(kWatchVerb), result.error(), kConsequence);
  }
  return result;
}

Result<void> DescribedListWatch::Watch(const ListOptions& options, EventSink sink,
                                       std::stop_token stop) {
  bool granted = false;
  return WatchHasEnded(inner_->Watch(
      options,
      [&](cache::WatchEvent&& event) {
        if (!std::exchange(granted, true)) {
          fallbacks_->Granted(RightTo(kWatchVerb));
        }
        return sink(std::move(event));
      },
      std::move(stop)));
}

Result<std::unique_ptr<cache::OpenWatch>> DescribedListWatch::StartWatch(const ListOptions& options,
                                                                         std::stop_token stop) {
  auto watch = inner_->StartWatch(options, std::move(stop));
  if (!watch) {
    return Fail(WatchHasEnded(Fail(watch.error())).error());
  }
  return std::make_unique<cache::FollowedWatch>(
      *std::move(watch),
      [this, granted = false](cache::WatchEvent&& event, EventSink sink) mutable {
        if (!std::exchange(granted, true)) {
          fallbacks_->Granted(RightTo(kWatchVerb));
        }
        return sink(std::move(event));
      },
      [this](Result<void> result) { return WatchHasEnded(std::move(result)); });
}

}  // namespace kubexx::reloader
