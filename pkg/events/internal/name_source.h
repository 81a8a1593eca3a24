/// @file
/// Makes the names of events.
#ifndef KUBEXX_EVENTS_INTERNAL_NAME_SOURCE_H_
#define KUBEXX_EVENTS_INTERNAL_NAME_SOURCE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/events/event_text.h"

namespace kubexx::events::internal {

/// Makes names with EventName. If two events come in the same nanosecond, the second one gets a
/// later nanosecond, so that the server does not refuse it. Thread-safe.
class NameSource {
 public:
  std::string Next(std::string_view object, base::WallTime now) {
    std::int64_t mine =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
    std::int64_t last = last_.load();
    do {
      mine = mine > last ? mine : last + 1;
    } while (!last_.compare_exchange_weak(last, mine));
    return EventName(object, mine);
  }

 private:
  std::atomic<std::int64_t> last_ = 0;
};

}  // namespace kubexx::events::internal

#endif  // KUBEXX_EVENTS_INTERNAL_NAME_SOURCE_H_
