/// @file
/// What an event of an informer says of a source.
#ifndef KUBEXX_RELOADER_WATCH_SOURCE_EVENT_H_
#define KUBEXX_RELOADER_WATCH_SOURCE_EVENT_H_

#include <optional>

#include "kubexx/cache/informer_event.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// Whether the source has appeared, changed or gone. An object of a described kind is a source only
/// while it has all fields of the description, so an update may be any of the three; std::nullopt
/// when it was no source before and is none now. For other types, and for what cannot be read, it
/// is the event's own type.
std::optional<cache::RawEvent::Type> MeaningOf(SourceType type, const cache::RawEvent& event);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_EVENT_H_
