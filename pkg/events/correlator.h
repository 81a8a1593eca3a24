/// @file
/// Thins out core/v1 events before they are written: aggregation, counting, spam filter.
#ifndef KUBEXX_EVENTS_CORRELATOR_H_
#define KUBEXX_EVENTS_CORRELATOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/events/internal/lru.h"

namespace kubexx::events {

/// Semantics and constants of client-go's EventCorrelator, in its order:
///  1. From the 10th distinct message of the same source, object, type and reason on (10 minutes
///     without any start anew) they are one event with the prefix
///     "(combined from similar events): ".
///  2. The same event again raises the count of the first one instead.
///  3. A source may write 25 events about an object, and one more every 5 minutes.
/// Each step remembers the 4096 keys used last. Not thread-safe.
class Correlator {
 public:
  static constexpr std::size_t kCacheSize = 4096;
  static constexpr std::size_t kAggregateFrom = 10;
  static constexpr base::Duration kAggregateGap = std::chrono::seconds(600);
  static constexpr int kSpamBurst = 25;
  static constexpr double kSpamPerSecond = 1.0 / 300;

  using Event = api::core::v1::Event;

  /// What to write: a new event, or, with `patch` not empty, an event of that name that is there
  /// already and gets this strategic merge patch.
  struct Write {
    Event event{};
    std::string patch{};
  };

  /// `clock` must outlive it.
  explicit Correlator(base::Clock& clock) : clock_(clock) {}

  /// Nothing when the event is to be dropped as spam.
  std::optional<Write> Correlate(Event event);

  /// The event as the server has stored it.
  void Stored(const Event& event);

 private:
  struct Aggregate {
    std::set<std::string> messages{};
    base::TimePoint last{};
  };
  struct Count {
    std::int32_t count = 0;
    apimachinery::Time first{};
    std::string name{};
    std::string resource_version{};
  };

  /// The key by which the event is counted; it may have become an aggregate.
  std::string AggregateSimilar(Event& event);
  std::string CountSame(Event& event, const std::string& key);
  bool IsSpam(const Event& event);
  static Count CountOf(const Event& event);

  base::Clock& clock_;
  internal::Lru<std::string, Aggregate> aggregates_{kCacheSize};
  internal::Lru<std::string, Count> counts_{kCacheSize};
  internal::Lru<std::string, std::unique_ptr<base::TokenBucket>> budgets_{kCacheSize};
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_CORRELATOR_H_
