#include "kubexx/cache/watch/followed_watch.h"

#include <utility>

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

FollowedWatch::FollowedWatch(std::unique_ptr<OpenWatch> inner, OnEvent on_event, OnEnd on_end)
    : inner_(std::move(inner)), on_event_(std::move(on_event)), on_end_(std::move(on_end)) {}

FollowedWatch::~FollowedWatch() {
  if (!has_ended_) {
    inner_.reset();
    (void)on_end_(Fail(Reason::kCancelled, "the watch was given up"));
  }
}

Result<OpenWatch::Found> FollowedWatch::Read(EventSink sink) {
  auto found = on_event_ ? inner_->Read([this, &sink](WatchEvent&& event) {
    return on_event_(std::move(event), sink);
  })
                         : inner_->Read(sink);
  if (found && *found != Found::kEnd) {
    return found;
  }
  has_ended_ = true;
  KX_RETURN_IF_ERROR(on_end_(found ? Result<void>() : Result<void>(Fail(found.error()))));
  return Found::kEnd;
}

}  // namespace kubexx::cache
