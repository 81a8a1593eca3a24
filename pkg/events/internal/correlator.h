/// @file
/// Reduces the number of core/v1 events before they are written, by aggregation, counting and a
/// spam filter.
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

/// Has the semantics and constants of client-go's EventCorrelator, and applies these steps in its
/// order:
///  1. From the 10th distinct message of the same source, object, type and reason on, these events
///     become one event with the prefix "(combined from similar events): ". After 10 minutes
///     without such an event the count begins anew.
///  2. A repeated event raises the count of the first one.
///  3. A source may write 25 events about an object, and then one more every 5 minutes.
/// Each step remembers the 4096 keys that were used last. It stores hashes of them, so that an
/// event costs half a kilobyte. Not thread-safe.
class Correlator {
 public:
  static constexpr std::size_t kCacheSize = 4096;
  static constexpr std::size_t kAggregateFrom = 10;
  static constexpr base::Duration kAggregateGap = std::chrono::seconds(600);
  static constexpr int kSpamBurst = 25;
  static constexpr double kSpamPerSecond = 1.0 / 300;

  using Event = api::core::v1::Event;

  /// A write to the API server. If `patch` is empty, `event` is new; otherwise an event of its name
  /// exists already and gets this strategic merge patch.
  struct Write {
    Event event{};
    std::string patch{};
  };

  /// `clock` must outlive it.
  explicit Correlator(base::Clock& clock);

  /// Returns what to write for `event`, or std::nullopt if it is spam and should be dropped.
  std::optional<Write> Correlate(Event event);

  /// To be called after a write, with the event as the server has stored it.
  void Stored(const Event& event);

 private:
  /// A hash of a text. Nobody outside the process can choose texts with equal hashes.
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
    std::vector<std::uint64_t> messages{};  ///< hashes of the distinct messages
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

  /// Returns the key by which the event is counted. May turn the event into an aggregate.
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
