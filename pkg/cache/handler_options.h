/// @file
/// Settings of one handler of an informer.
#ifndef KUBEXX_CACHE_HANDLER_OPTIONS_H_
#define KUBEXX_CACHE_HANDLER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kubexx/base/clock.h"

namespace kubexx::cache {

/// What becomes of further events when as many wait for a handler as may.
enum class Overflow : std::uint8_t {
  /// The changes of an object that wait become one, from the state that the handler knows to the
  /// last one; an object that came and went in the meantime is not told at all, unless
  /// HandlerOptions::tells_passing says so. So never more wait
  /// than there are objects, the last state is never lost, and nobody else is held back.
  kMerge,
  /// Every event is delivered; until there is room the informer waits, and with it its other
  /// handlers, its store and its connection to the server.
  kHoldBack
};

/// Settings of one handler.
struct HandlerOptions {
  /// Every object is delivered again as an update without change this often; zero means never,
  /// nothing means as the informer's options say. At least a second. The informer looks as often as
  /// the shortest period that was asked for before it was started, so that a shorter one that comes
  /// later is raised to that, and without any there is no resync.
  std::optional<base::Duration> resync_period{};
  /// Events that may wait before `overflow` applies; zero means as the informer's options say. A
  /// burst brings up to 256 at once: a smaller buffer overflows then though the handler is fast.
  std::size_t buffer = 0;
  Overflow overflow = Overflow::kMerge;
  /// With kMerge: an object that came and went in the meantime is told as a delete, of something
  /// that the handler did not know; one that came again then as an update from it. For handlers who
  /// are to do something about what is not there any more.
  bool tells_passing = false;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_HANDLER_OPTIONS_H_
