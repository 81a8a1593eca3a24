#include "kubexx/cache/backoff.h"

#include <algorithm>

namespace kubexx::cache {

base::Duration Backoff::Next() {
  const base::TimePoint now = clock_.Now();
  if (now >= quiet_until_) {
    next_ = options_.initial;
  }
  const auto base_delay = static_cast<double>(next_.count());
  const base::Duration delay(
      static_cast<base::Duration::rep>(base_delay * (1.0 + options_.jitter * random_())));
  const double grown =
      std::min(base_delay * options_.factor, static_cast<double>(options_.cap.count()));
  next_ = base::Duration(static_cast<base::Duration::rep>(grown));
  quiet_until_ = now + delay + options_.reset;
  return delay;
}

}  // namespace kubexx::cache
