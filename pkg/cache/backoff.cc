#include "kubexx/cache/backoff.h"

#include <algorithm>

namespace kubexx::cache {

void Backoff::Worked(base::Duration time) {
  worked_ += time;
  if (worked_ >= last_) {
    since_it_worked_ = options_.initial;
  }
}

base::Duration Backoff::Take(base::Duration Backoff::* which) {
  const base::TimePoint now = clock_.Now();
  if (now >= quiet_until_) {
    since_it_worked_ = of_all_ = options_.initial;
  }
  const auto base_delay = static_cast<double>((this->*which).count());
  last_ = base::Duration(
      static_cast<base::Duration::rep>(base_delay * (1.0 + options_.jitter * random_())));
  worked_ = base::Duration(0);
  since_it_worked_ = Grown(since_it_worked_);
  of_all_ = Grown(of_all_);
  quiet_until_ = now + last_ + options_.reset;
  return last_;
}

base::Duration Backoff::Grown(base::Duration delay) const {
  const double grown = std::min(static_cast<double>(delay.count()) * options_.factor,
                                static_cast<double>(options_.cap.count()));
  return base::Duration(static_cast<base::Duration::rep>(grown));
}

}  // namespace kubexx::cache
