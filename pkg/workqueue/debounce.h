/// @file
/// Debounce: settings of adds that wait until a key has been quiet.
#ifndef KUBEXX_WORKQUEUE_DEBOUNCE_H_
#define KUBEXX_WORKQUEUE_DEBOUNCE_H_

#include <optional>

#include "kubexx/base/clock.h"

namespace kubexx::workqueue {

/// Settings of one debounced add. Its key falls due `window` after the last such add, but at the
/// latest `max_windows` windows after the first add for which no worker has taken the key yet, so
/// that a continuous stream of adds is processed, too. Adds of one key may have different windows;
/// an add never makes the key fall due earlier than an earlier add does.
struct Debounce {
  /// At most ten years; longer windows are shortened. When zero or negative, the key falls due at
  /// once.
  base::Duration window{0};
  int max_windows = 10;
  /// Whether the add postpones the key. When false, the add only makes sure that the key is
  /// processed, and does not postpone it if another debounced add waits.
  bool puts_off = true;
};

/// Describes the debounced adds that a worker handles when it takes a key.
struct Settled {
  base::TimePoint first{};  ///< when the first add was made
  /// When the last add was made that postpones the key; std::nullopt when there was none.
  std::optional<base::TimePoint> last{};
  base::TimePoint due{};  ///< when the key fell due
  bool operator==(const Settled&) const = default;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_DEBOUNCE_H_
