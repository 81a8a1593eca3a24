/// @file
/// Adds that wait until a key has been quiet.
#ifndef KUBEXX_WORKQUEUE_DEBOUNCE_H_
#define KUBEXX_WORKQUEUE_DEBOUNCE_H_

#include <optional>

#include "kubexx/base/clock.h"

namespace kubexx::workqueue {

/// How one debounced add is made. Its key falls due `window` after the last such add, and at the
/// latest `max_windows` windows after the first one that no worker has taken the key for, so that a
/// stream of adds without a pause is worked on, too. Adds of one key may have different windows:
/// none makes a key fall due sooner than an earlier add has it.
struct Debounce {
  /// Cut to ten years. Not positive: the key falls due at once.
  base::Duration window{0};
  int max_windows = 10;
  /// Otherwise the add has the key worked on, if no debounced add has it worked on anyway, and puts
  /// nothing off.
  bool puts_off = true;
};

/// The debounced adds that a worker has taken a key for.
struct Settled {
  base::TimePoint first{};  ///< when the first of them was made
  /// When the last of them was made that puts off; none when there was none.
  std::optional<base::TimePoint> last{};
  base::TimePoint due{};  ///< when the key fell due
  bool operator==(const Settled&) const = default;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_DEBOUNCE_H_
