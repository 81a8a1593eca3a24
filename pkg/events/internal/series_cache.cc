#include "kubexx/events/internal/series_cache.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/schema.h"

namespace kubexx::events {
namespace {

using api::events::v1::EventSeries;
using apimachinery::MicroTime;
using codec::FieldSchema;
using codec::Kind;
using codec::TypeSchema;

struct Patch {
  EventSeries series{};
};

void Append(std::string& key, std::string_view part) {
  key.append(part);
  key += '\0';
}

void Append(std::string& key, const api::core::v1::ObjectReference& object) {
  for (const std::string_view part :
       {std::string_view(object.kind), std::string_view(object.namespace_),
        std::string_view(object.name), std::string_view(object.uid),
        std::string_view(object.api_version), std::string_view(object.resource_version),
        std::string_view(object.field_path)}) {
    Append(key, part);
  }
}

}  // namespace

std::string SeriesPatch(const SeriesCache::Event& event) {
  const std::array<FieldSchema, 1> fields{{{.name = "series",
                                            .kind = Kind::kMessage,
                                            .offset = offsetof(Patch, series),
                                            .message = &codec::SchemaOf<EventSeries>()}}};
  const TypeSchema schema{
      .name = "events.SeriesPatch", .group = "", .version = "", .kind = "", .fields = fields};
  const Patch patch{.series = event.series ? *event.series : EventSeries()};
  std::string out;
  codec::EncodeJson(schema, &patch, out);
  return out;
}

std::string SeriesCache::KeyOf(const Event& event) {
  std::string key;
  for (const std::string* part : {&event.type, &event.action, &event.reason,
                                  &event.reporting_controller, &event.reporting_instance}) {
    Append(key, *part);
  }
  Append(key, event.regarding);
  if (event.related) {
    Append(key, *event.related);
  }
  return key;
}

std::vector<SeriesCache::Event> SeriesCache::Observe(Event event) {
  std::vector<Event> out;
  const std::string key = KeyOf(event);
  const base::TimePoint now = clock_.Now();
  Entry* const entry = entries_.Find(key);
  if (entry == nullptr) {
    out.push_back(event);
    if (auto gone = entries_.Put(key, Entry{.event = std::move(event), .last = now, .written = 1});
        gone && gone->event.series && gone->event.series->count > gone->written) {
      out.push_back(std::move(gone->event));
    }
    return out;
  }
  entry->last = now;
  if (entry->event.series) {
    EventSeries& series = *entry->event.series;
    series.count += series.count < std::numeric_limits<std::int32_t>::max() ? 1 : 0;
    series.last_observed_time = MicroTime::From(clock_.Wall());
    return out;
  }
  EventSeries series;
  series.count = 2;
  series.last_observed_time = MicroTime::From(clock_.Wall());
  entry->event.series = series;
  entry->written = 2;
  out.push_back(entry->event);
  return out;
}

std::vector<SeriesCache::Event> SeriesCache::Series() const {
  std::vector<Event> out;
  entries_.Filter([&out](Entry& entry) {
    if (entry.event.series) {
      entry.written = entry.event.series->count;
      out.push_back(entry.event);
    }
    return true;
  });
  return out;
}

std::vector<SeriesCache::Event> SeriesCache::Close() {
  std::vector<Event> out;
  const base::TimePoint now = clock_.Now();
  entries_.Filter([&out, now](Entry& entry) {
    if (now - entry.last <= kIdle) {
      return true;
    }
    if (entry.event.series) {
      out.push_back(std::move(entry.event));
    }
    return false;
  });
  return out;
}

void SeriesCache::Restore(Event event) {
  // Idle still: the next Close tries again.
  const std::string key = KeyOf(event);
  entries_.Put(key, Entry{.event = std::move(event), .last = clock_.Now() - 2 * kIdle});
}

void SeriesCache::NotWritten(const Event& event) {
  Entry* const entry = event.series ? entries_.Find(KeyOf(event)) : nullptr;
  if (entry != nullptr) {
    entry->written = std::min(entry->written, event.series->count - 1);
  }
}

std::vector<SeriesCache::Event> SeriesCache::Unwritten() const {
  std::vector<Event> out;
  entries_.Filter([&out](Entry& entry) {
    if (entry.event.series && entry.event.series->count > entry.written) {
      out.push_back(entry.event);
    }
    return true;
  });
  return out;
}

}  // namespace kubexx::events
