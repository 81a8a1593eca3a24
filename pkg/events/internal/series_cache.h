/// @file
/// Turns repeated events.k8s.io/v1 events into series.
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

/// Semantics and constants of client-go's tools/events: events with the same type, action, reason,
/// controller, instance, regarding and related are one. The second one makes it a series of 2,
/// which is written; later ones count in memory only. A series is written again every 30 minutes,
/// and a last time when nothing came for 6 minutes, which closes it. Beyond client-go it remembers
/// a bounded number, and writes the count of what it forgets. Not thread-safe.
class SeriesCache {
 public:
  static constexpr std::size_t kCapacity = 4096;
  static constexpr base::Duration kRefresh = std::chrono::minutes(30);
  static constexpr base::Duration kIdle = std::chrono::minutes(6);

  using Event = api::events::v1::Event;

  /// `clock` must outlive it.
  explicit SeriesCache(base::Clock& clock, std::size_t capacity = kCapacity)
      : clock_(clock), entries_(capacity) {}

  /// What to write for `event`, in order: it, or its series, or nothing; and the series that had to
  /// make room for it.
  std::vector<Event> Observe(Event event);

  /// All series, to be written again, so that the server does not forget them.
  std::vector<Event> Series() const;

  /// Forgets what has been idle for kIdle; series among it are to be written a last time. Call
  /// Restore for those that could not be.
  std::vector<Event> Close();
  void Restore(Event event);

  /// Takes back that the series of `event`, which Observe or Series gave, has been written.
  void NotWritten(const Event& event);

  /// Series whose count is not what was written last: what has to be written before the process
  /// ends.
  std::vector<Event> Unwritten() const;

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Event event{};
    base::TimePoint last{};
    int written = 0;  ///< the count that was given to be written last
  };

  static std::string KeyOf(const Event& event);

  base::Clock& clock_;
  mutable internal::Lru<std::string, Entry> entries_;
};

/// The strategic merge patch that sets the series of an event.
std::string SeriesPatch(const SeriesCache::Event& event);

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_INTERNAL_SERIES_CACHE_H_
