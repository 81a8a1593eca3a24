#include "kubexx/reloader/in_place/outage.h"

#include "kubexx/reloader/permissions/denial.h"

namespace kubexx::reloader {

bool Outage::Bears(const apimachinery::Status& why, base::TimePoint now) {
  since_ = since_.value_or(now);
  if (!IsDenied(why)) {
    denied_since_.reset();
    return Lost(now) < longest_;
  }
  denied_since_ = denied_since_.value_or(now);
  return now - *denied_since_ < longest_denial_ && Lost(now) < longest_;
}

void Outage::End(base::TimePoint now) {
  lost_ = Lost(now);
  since_.reset();
  denied_since_.reset();
}

base::Duration Outage::Lost(base::TimePoint now) const {
  return lost_ + (since_ ? now - *since_ : base::Duration(0));
}

}  // namespace kubexx::reloader
