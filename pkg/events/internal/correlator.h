/// @file
/// Thins out core/v1 events before they are written: aggregation, counting, spam filter.
#ifndef KUBEXX_EVENTS_INTERNAL_CORRELATOR_H_
#define KUBEXX_EVENTS_INTERNAL_CORRELATOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/clock.h"
#include "kubexx/events/internal/lru.h"

namespace kubexx::events {

/// Semantics and constants of client-go's EventCorrelator, in its order:
///  1. From the 10th distinct message of the same source, object, type and reason on (10 minutes
///     without any start anew) they are one event with the prefix
///     "(combined from similar events): ".
///  2. The same event again raises the count of the first one instead.
///  3. A source may write 25 events about an object, and one more every 5 minutes.
/// Each step remembers the 4096 keys used last, as hashes, so that an event costs half a kilobyte.
/// Not thread-safe.
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
  explicit Correlator(base::Clock& clock);

  /// Nothing when the event is to be dropped as spam.
  std::optional<Write> Correlate(Event event);

  /// The event as the server has stored it.
  void Stored(const Event& event);

 private:
  /// A hash of a text. Nobody outside the process can choose texts that give the same.
  struct Key {
    std::uint64_t one = 0;
    std::uint64_t other = 0;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const noexcept { return key.one; }
  };
  template <class Value>
  using Remembered = internal::Lru<Key, Value, HashOfKey>;
  struct Aggregate {
    std::vector<std::uint64_t> messages{};  ///< hashes, each once
    base::TimePoint last{};
  };
  struct Budget {
    double left = kSpamBurst;
    base::TimePoint at{};
  };
  struct Count {
    std::int32_t count = 0;
    apimachinery::Time first{};
    std::string name{};
    std::string resource_version{};
  };

  /// The key by which the event is counted; it may have become an aggregate.
  Key AggregateSimilar(Event& event);
  std::string CountSame(Event& event, const Key& key);
  bool IsSpam(const Event& event);
  static Count CountOf(const Event& event);
  Key KeyOf(std::string_view text) const;

  base::Clock& clock_;
  const Key salt_;
  Remembered<Aggregate> aggregates_{kCacheSize};
  Remembered<Count> counts_{kCacheSize};
  Remembered<Budget> budgets_{kCacheSize};
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_INTERNAL_CORRELATOR_H_
