/// @file
/// SeriesCache: turns repeated events.k8s.io/v1 events into series.
#ifndef KUBEXX_EVENTS_INTERNAL_SERIES_CACHE_H_
#define KUBEXX_EVENTS_INTERNAL_SERIES_CACHE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/base/clock.h"
#include "kubexx/events/internal/lru.h"

namespace kubexx::events {

/// Has the semantics and constants of client-go's tools/events. Events with the same type, action,
/// reason, controller, instance, regarding and related count as one event. When the second of them
/// comes, a series with count 2 is written; later ones are only counted in memory. A series is
/// written again every 30 minutes. When no event has come for 6 minutes, it is written a last time
/// and closed. Unlike client-go, this cache remembers a bounded number of events, and writes the
/// count of a series before it forgets it. Not thread-safe.
class SeriesCache {
 public:
  static constexpr std::size_t kCapacity = 4096;
  static constexpr base::Duration kRefresh = std::chrono::minutes(30);
  static constexpr base::Duration kIdle = std::chrono::minutes(6);

  using Event = api::events::v1::Event;

  /// `clock` must outlive it.
  explicit SeriesCache(base::Clock& clock, std::size_t capacity = kCapacity)
      : clock_(clock), entries_(capacity) {}

  /// Returns what to write for `event`, in order: the event, or its series, or nothing; and then
  /// the series that was removed to make room for it, if any.
  std::vector<Event> Observe(Event event);

  /// Returns all series, which are to be written again so that the server does not forget them.
  std::vector<Event> Series() const;

  /// Forgets events that have been idle for kIdle. Returns the series among them, which are to be
  /// written a last time. Call Restore for those that could not be written.
  std::vector<Event> Close();
  void Restore(Event event);

  /// Notes that an event that Observe or Series returned could not be written.
  void NotWritten(const Event& event);

  /// Returns the series whose count has changed since they were last written. They have to be
  /// written before the process ends.
  std::vector<Event> Unwritten() const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Event event{};
    base::TimePoint last{};
    int written = 0;  ///< the count in the last event that was returned to be written
  };

  static std::string KeyOf(const Event& event);

  base::Clock& clock_;
  mutable internal::Lru<std::string, Entry> entries_;
};

/// Returns the strategic merge patch that sets the series of an event.
std::string SeriesPatch(const SeriesCache::Event& event);

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_INTERNAL_SERIES_CACHE_H_
