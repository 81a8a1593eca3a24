#include "kubexx/reloader/permissions/policy_access.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/cache/watch/followed_watch.h"
#include "kubexx/logging/log.h"

namespace kubexx::reloader {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

namespace {

constexpr std::string_view kSeemsUnserved =
    "the server says that it does not have the resource, perhaps only for now";

constexpr std::string_view kListAgain = "policies must be listed again after a refusal";

}  // namespace

bool PolicyAccess::WantsList(const Status& status) { return status.message.contains(kListAgain); }

bool PolicyAccess::SeemsUnserved(const Status& status) {
  // The reflector puts what it did in front of the message.
  return status.message.contains(kSeemsUnserved);
}

class PolicyAccess::FollowedListWatch final : public cache::ListerWatcher {
 public:
  FollowedListWatch(PolicyAccess& owner, std::shared_ptr<cache::ListerWatcher> inner,
                    std::string namespace_)
      : owner_(owner), inner_(std::move(inner)), refusal_{.namespace_ = std::move(namespace_)} {}

  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    if (options.continue_.empty() && owner_.IsStillUnserved(refusal_, stop)) {
      return Unserved(options,
                      {Reason::kNotFound, "the server still does not serve the resource", 404});
    }
    auto listed = inner_->List(
        options,
        [&](cache::Object&& policy) {
          has_brought_some_ = true;
          return sink(std::move(policy));
        },
        stop);
    if (!listed) {
      Status judged = owner_.Judge(refusal_, listed.error(), stop);
      return options.continue_.empty() && owner_.IsUnserved(refusal_)
                 ? Unserved(options, std::move(judged))
                 : apimachinery::Fail(std::move(judged));
    }
    if (owner_.IsUnserved(refusal_)) {
      logging::Info("The CRD of reload policies is installed by now; the operator heeds them",
                    {{"resource", owner_.options_.resource},
                     {"namespace", refusal_.namespace_.empty() ? "all" : refusal_.namespace_}});
    }
    owner_.Granted(refusal_, listed->resource_version);
    return listed;
  }

  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    if (owner_.Counts(refusal_)) {
      return MustListAgain();
    }
    return Ended(
        inner_->Watch(
            options, [&](cache::WatchEvent&& event) { return Pass(std::move(event), sink); }, stop),
        stop);
  }

  bool CanStartWatch() const override { return inner_->CanStartWatch(); }

  Result<std::unique_ptr<cache::OpenWatch>> StartWatch(const ListOptions& options,
                                                       std::stop_token stop) override {
    if (owner_.Counts(refusal_)) {
      return MustListAgain();
    }
    auto watch = inner_->StartWatch(options, stop);
    if (!watch) {
      return apimachinery::Fail(Ended(apimachinery::Fail(watch.error()), stop).error());
    }
    return std::make_unique<cache::FollowedWatch>(
        *std::move(watch),
        [this](cache::WatchEvent&& event, EventSink sink) { return Pass(std::move(event), sink); },
        [this, stop](Result<void> result) { return Ended(std::move(result), stop); });
  }

  // This request tells nothing of the right to watch, and brings no policies.
  Result<std::string> CurrentVersion(std::stop_token stop) override {
    return inner_->CurrentVersion(std::move(stop));
  }

 private:
  // The result of a list while the server does not serve the resource, as `status` says.
  Result<codec::ListMeta> Unserved(const ListOptions& options, Status status) {
    if (!std::exchange(has_brought_some_, false)) {
      return apimachinery::Fail(std::move(status));
    }
    // There may have been no events of their deletion, for example when the watch was half-open.
    return codec::ListMeta{.resource_version =
                               options.resource_version.empty() ? "0" : options.resource_version};
  }

  static apimachinery::Error MustListAgain() {
    return apimachinery::Fail(Reason::kExpired, std::string(kListAgain));
  }

  Result<void> Pass(cache::WatchEvent&& event, EventSink sink) {
    owner_.Granted(refusal_, {});
    has_brought_some_ = true;
    return sink(std::move(event));
  }

  // Returns the result of a watch as the reflector has to see it.
  Result<void> Ended(Result<void> watched, const std::stop_token& stop) {
    if (!watched) {
      return apimachinery::Fail(owner_.Judge(refusal_, watched.error(), stop));
    }
    owner_.Granted(refusal_, {});
    return watched;
  }

  PolicyAccess& owner_;
  const std::shared_ptr<cache::ListerWatcher> inner_;
  Refusal refusal_;
  bool has_brought_some_ = false;  ///< policies, since the last list without any
};

std::shared_ptr<cache::ListerWatcher> PolicyAccess::Follow(
    std::shared_ptr<cache::ListerWatcher> inner, std::string namespace_) {
  return std::make_shared<FollowedListWatch>(*this, std::move(inner), std::move(namespace_));
}

bool PolicyAccess::unread() const {
  const base::MutexLock lock(mu_);
  return unread_ > 0;
}

std::optional<PolicyAccess::Gap> PolicyAccess::GapIn(const std::string& namespace_) const {
  const base::MutexLock lock(mu_);
  const auto found = gaps_.find(namespace_);
  return found == gaps_.end() ? std::nullopt : std::optional(found->second);
}

void PolicyAccess::Close(const std::string& namespace_, const std::string& version) {
  const base::MutexLock lock(mu_);
  // It may have been refused again in the meantime.
  if (const auto found = gaps_.find(namespace_);
      found != gaps_.end() && found->second.listed == version) {
    gaps_.erase(found);
  }
}

bool PolicyAccess::Counts(const Refusal& refusal) const {
  const base::MutexLock lock(mu_);
  return refusal.counts;
}

bool PolicyAccess::IsUnserved(const Refusal& refusal) const {
  const base::MutexLock lock(mu_);
  return refusal.unserved_since && !refusal.since;
}

bool PolicyAccess::IsStillUnserved(const Refusal& refusal, const std::stop_token& stop) const {
  return IsUnserved(refusal) && options_.is_served && options_.is_served(true, stop) == false;
}

void PolicyAccess::Tell(const std::string& namespace_, bool is_refused) const {
  if (options_.on_change) {
    options_.on_change(namespace_, is_refused);
  }
}

void PolicyAccess::Granted(Refusal& refusal, const std::string& version) {
  bool counted = false;
  {
    const base::MutexLock lock(mu_);
    unread_ -= refusal.since ? 1 : 0;
    refusal.since.reset();
    refusal.unserved_since.reset();
    counted = std::exchange(refusal.counts, false);
    if (const auto found = gaps_.find(refusal.namespace_);
        !version.empty() && found != gaps_.end()) {
      found->second.listed = version;
    }
  }
  if (counted) {
    Tell(refusal.namespace_, false);
  }
}

std::optional<base::TimePoint> PolicyAccess::UnservedSince(Refusal& refusal,
                                                           const std::stop_token& stop) {
  const bool is_said = options_.is_served && options_.is_served(false, stop) == false;
  const bool is_certain = is_said && options_.is_certain && options_.is_certain(stop);
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  if (!is_said) {
    refusal.unserved_since.reset();
    return std::nullopt;
  }
  refusal.unserved_since = refusal.unserved_since.value_or(now);
  const bool is_believed = is_certain || now - *refusal.unserved_since >= options_.patience;
  return is_believed ? refusal.unserved_since : std::nullopt;
}

Status PolicyAccess::Judge(Refusal& refusal, Status status, const std::stop_token& stop) {
  const bool is_missing = status.reason == Reason::kNotFound;
  if (!is_missing && status.reason != Reason::kForbidden &&
      status.reason != Reason::kUnauthorized) {
    return status;  // the error tells nothing of the right, so it neither begins nor ends a refusal
  }
  if (const auto unserved_since = UnservedSince(refusal, stop)) {
    Granted(refusal, {});
    const base::MutexLock lock(mu_);
    refusal.unserved_since = unserved_since;
    gaps_.erase(refusal.namespace_);
    // There are no policies then.
    return {Reason::kNotFound, std::move(status.message), status.code};
  }
  const base::TimePoint now = options_.clock.Now();
  bool is_new = false;
  {
    const base::MutexLock lock(mu_);
    if (!refusal.since) {
      refusal.since = now;
      ++unread_;
    }
    if (!refusal.counts && now - *refusal.since < options_.patience) {
      return {
          Reason::kServiceUnavailable,
          (refusal.unserved_since ? std::string(kSeemsUnserved) : "the refusal may be temporary") +
              "; until that is known no rollout begins: " + status.ToString(),
          status.code};
    }
    is_new = !std::exchange(refusal.counts, true);
    gaps_[refusal.namespace_].listed.clear();
  }
  if (is_new) {
    Tell(refusal.namespace_, true);
  }
  return status;
}

}  // namespace kubexx::reloader
