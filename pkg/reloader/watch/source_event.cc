#include "kubexx/reloader/watch/source_event.h"

#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {

using cache::RawEvent;

std::optional<RawEvent::Type> MeaningOf(SourceType type, const RawEvent& event) {
  if (!IsDescribed(type)) {
    return event.type;
  }
  bool was_source = false;
  bool is_source = false;
  if (event.type != RawEvent::Type::kAdd) {
    const auto before = SourceFrom(type, event.old_object());
    if (!before) {
      return event.type;
    }
    was_source = before->digest != kNoSource;
  }
  if (event.type != RawEvent::Type::kDelete) {
    const auto now = SourceFrom(type, event.object());
    if (!now) {
      return event.type;
    }
    is_source = now->digest != kNoSource;
  }
  if (was_source != is_source) {
    return is_source ? RawEvent::Type::kAdd : RawEvent::Type::kDelete;
  }
  return is_source ? std::optional(RawEvent::Type::kUpdate) : std::nullopt;
}

}  // namespace kubexx::reloader
