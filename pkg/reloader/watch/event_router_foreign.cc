// Handles events of sources for workloads of other namespaces.
#include <optional>
#include <stop_token>
#include <utility>

#include "kubexx/cache/informer_event.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/watch/event_router.h"

namespace kubexx::reloader {

void EventRouter::OnForeign(SourceType type, const RawEvent& event, const std::stop_token& stop) {
  const bool is_known = event.type == RawEvent::Type::kAdd && event.is_in_initial_list;
  if ((type != SourceType::kConfigMap && type != SourceType::kSecret) || is_known) {
    return;
  }
  const auto read = [type](const cache::Object& object) {
    auto source = SourceFrom(type, object);
    // Most sources allow nobody, and their events are to cost nothing more.
    return source && !source->allowed.empty() ? std::optional(*std::move(source)) : std::nullopt;
  };
  const auto before = event.type == RawEvent::Type::kAdd ? std::nullopt : read(event.old_object());
  const auto now = event.type == RawEvent::Type::kDelete ? std::nullopt : read(event.object());
  if ((!before && !now) || !parts_.caches.WaitForWorkloads(stop)) {
    return;
  }
  const SourceId object{type, event.key()};
  if (parts_.recent != nullptr && before && now && before->digest != now->digest &&
      !IsSelected(object.key.namespace_, stop)) {  // else its own workloads have it noted
    parts_.recent->Add(object, before->digest,
                       {now->digest, VersionNumber(event.resource_version())});
  }
  for (const SourceId& id : parts_.caches.ForeignIdsOf(object)) {
    const std::string& space = id.key.namespace_;
    const bool was_allowed = before && Allows(*before, space);
    const bool is_allowed = now && Allows(*now, space);
    if ((was_allowed || is_allowed) && IsSelected(space, stop)) {
      OnForeignChange(id, was_allowed ? &*before : nullptr, is_allowed ? &*now : nullptr, event);
    }
  }
}

void EventRouter::OnForeignChange(const SourceId& id, const Source* before, const Source* now,
                                  const RawEvent& event) {
  if (now == nullptr) {
    NoteWorkloads({.id = id, .unknown = true}, nullptr);
    return;
  }
  Source source = *now;
  source.id = id;
  if (before == nullptr) {
    // That of a permission says nothing of when the data were written.
    source.resource_version =
        event.type == RawEvent::Type::kAdd ? VersionNumber(event.resource_version()) : 0;
    NoteWorkloads(source, nullptr);
    return;
  }
  if (!event.is_single_change) {
    NoteUnseenWrites(id, {.from = VersionNumber(event.old_resource_version()),
                          .to = VersionNumber(event.resource_version())});
  }
  if (before->digest == source.digest) {
    Source same = *before;
    same.id = id;
    same.allowed = source.allowed;
    if (same != source) {  // the ignore annotation, or another that counts, has changed
      NoteWorkloads(source, nullptr);
    } else {
      NoteDoubted(id);
    }
    return;
  }
  source.resource_version = VersionNumber(event.resource_version());
  const Move had{.digest = before->digest, .prints = before->prints};
  NoteWorkloads(source, &had);
}

}  // namespace kubexx::reloader
