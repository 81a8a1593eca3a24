/// @file
/// Settings of one handler of an informer.
#ifndef KUBEXX_CACHE_HANDLER_OPTIONS_H_
#define KUBEXX_CACHE_HANDLER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kubexx/base/clock.h"

namespace kubexx::cache {

/// What an informer does with further events when a handler's buffer is full.
enum class Overflow : std::uint8_t {
  /// The informer merges the waiting changes of an object into one, from the state that the handler
  /// knows to the last state. A handler does not learn of an object that was created and deleted in
  /// the meantime, unless HandlerOptions::tells_passing is set. So no more events wait than there
  /// are objects, the last state is never lost, and nothing else is delayed.
  kMerge,
  /// The informer delivers every event. Until the buffer has room, the informer waits, and with it
  /// its other handlers, its store and its connection to the server.
  kHoldBack
};

/// Settings of one handler.
struct HandlerOptions {
  /// How often the handler gets every object again, as an update without a change. Zero means
  /// never; std::nullopt takes the period of the informer's options. At least a second. A handler
  /// that is added to a running informer cannot get a shorter period than the shortest one that was
  /// set before the start: its period is raised to that, and when no handler had a period, there is
  /// no resync.
  std::optional<base::Duration> resync_period{};
  /// How many events may wait before `overflow` applies; zero takes the size of the informer's
  /// options. Up to 256 events can arrive at once, so a smaller buffer can overflow even though the
  /// handler is fast.
  std::size_t buffer = 0;
  Overflow overflow = Overflow::kMerge;
  /// Applies to kMerge. When an object was created and deleted before the handler learnt of it, the
  /// handler gets a delete of an object that it did not know; when the object has been created
  /// again, it gets an update from the deleted object. For handlers that have to act on objects
  /// that no longer exist.
  bool tells_passing = false;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_HANDLER_OPTIONS_H_
