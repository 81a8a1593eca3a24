#include "kubexx/reloader/policy_access.h"

#include <string>
#include <utility>

namespace kubexx::reloader {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

class PolicyAccess::Source final : public cache::ListerWatcher {
 public:
  Source(PolicyAccess& owner, std::shared_ptr<cache::ListerWatcher> inner)
      : owner_(owner), inner_(std::move(inner)) {}

  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    auto listed = inner_->List(options, sink, stop);
    if (!listed) {
      return apimachinery::Fail(owner_.Judge(refusal_, listed.status(), stop));
    }
    owner_.Granted(refusal_);
    return listed;
  }

  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    auto watched = inner_->Watch(
        options,
        [&](cache::WatchEvent&& event) {
          owner_.Granted(refusal_);
          return sink(std::move(event));
        },
        stop);
    if (!watched) {
      return apimachinery::Fail(owner_.Judge(refusal_, watched.status(), stop));
    }
    return watched;
  }

 private:
  PolicyAccess& owner_;
  const std::shared_ptr<cache::ListerWatcher> inner_;
  Refusal refusal_;
};

std::shared_ptr<cache::ListerWatcher> PolicyAccess::Follow(
    std::shared_ptr<cache::ListerWatcher> inner) {
  return std::make_shared<Source>(*this, std::move(inner));
}

bool PolicyAccess::unread() const {
  const base::MutexLock lock(mu_);
  return unread_ > 0;
}

void PolicyAccess::Granted(Refusal& refusal) {
  const base::MutexLock lock(mu_);
  unread_ -= refusal.since ? 1 : 0;
  refusal = {};
}

Status PolicyAccess::Judge(Refusal& refusal, Status status, const std::stop_token& stop) {
  const bool is_missing = status.reason == Reason::kNotFound;
  if (!is_missing && status.reason != Reason::kForbidden &&
      status.reason != Reason::kUnauthorized) {
    return status;  // says nothing of the right: neither begins a refusal nor ends one
  }
  if (options_.is_served && options_.is_served(stop) == false) {
    Granted(refusal);
    return {Reason::kNotFound, std::move(status.message), status.code};  // so there are none
  }
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  if (!refusal.since) {
    refusal.since = now;
    ++unread_;
  }
  refusal.counts = refusal.counts || now - *refusal.since >= options_.patience;
  if (refusal.counts) {
    return status;
  }
  return {
      Reason::kServiceUnavailable,
      "whether it lasts is not known yet, and until then no rollout begins: " + status.ToString(),
      status.code};
}

}  // namespace kubexx::reloader
