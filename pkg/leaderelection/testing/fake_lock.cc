#include "kubexx/leaderelection/testing/fake_lock.h"

#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::leaderelection::testing {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<void> FakeLock::Begin(std::string_view verb, const std::stop_token& stop) {
  Fault fault;
  {
    const base::MutexLock lock(mu_);
    ++counts_[std::string(verb)];
    fault = fault_;
  }
  changed_.notify_all();
  return fault ? fault(verb, stop) : Result<void>();
}

Result<Lock::Lease> FakeLock::Get(std::stop_token stop) {
  KX_RETURN_IF_ERROR(Begin("get", stop));
  const base::MutexLock lock(mu_);
  if (!lease_) {
    return Fail(Reason::kNotFound, "no lease", 404);
  }
  return *lease_;
}

Result<Lock::Lease> FakeLock::Create(Lease lease, std::stop_token stop) {
  KX_RETURN_IF_ERROR(Begin("create", stop));
  const base::MutexLock lock(mu_);
  if (lease_) {
    return Fail(Reason::kAlreadyExists, "there is a lease", 409);
  }
  lease.metadata.namespace_ = "ns";
  lease.metadata.name = "lease";
  return StoreLocked(std::move(lease));
}

Result<Lock::Lease> FakeLock::Update(const Lease& lease, std::stop_token stop) {
  KX_RETURN_IF_ERROR(Begin("update", stop));
  const base::MutexLock lock(mu_);
  if (!lease_) {
    return Fail(Reason::kNotFound, "no lease", 404);
  }
  if (lease.metadata.resource_version != lease_->metadata.resource_version) {
    return Fail(Reason::kConflict, "the lease has changed", 409);
  }
  return StoreLocked(lease);
}

Result<void> FakeLock::Watch(Sink sink, std::stop_token stop) {
  KX_RETURN_IF_ERROR(Begin("watch", stop));
  std::string seen;
  while (true) {
    std::optional<Lease> lease;
    {
      base::MutexLock lock(mu_);
      while (!stop.stop_requested() && (!lease_ || lease_->metadata.resource_version == seen)) {
        base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
      }
      if (stop.stop_requested()) {
        return Fail(Reason::kCancelled, "stopped");
      }
      lease = lease_;
    }
    seen = lease->metadata.resource_version;
    sink(*std::move(lease));
  }
}

Lock::Lease FakeLock::StoreLocked(Lease lease) {
  lease.metadata.resource_version = std::to_string(++version_);
  lease_ = std::move(lease);
  changed_.notify_all();
  return *lease_;
}

void FakeLock::SetFault(Fault fault) {
  const base::MutexLock lock(mu_);
  fault_ = std::move(fault);
}

std::optional<Lock::Lease> FakeLock::Stored() const {
  const base::MutexLock lock(mu_);
  return lease_;
}

void FakeLock::Put(Lease lease) {
  const base::MutexLock lock(mu_);
  StoreLocked(std::move(lease));
}

void FakeLock::Remove() {
  const base::MutexLock lock(mu_);
  lease_.reset();
  changed_.notify_all();
}

int FakeLock::Count(std::string_view verb) const {
  const base::MutexLock lock(mu_);
  const auto found = counts_.find(verb);
  return found == counts_.end() ? 0 : found->second;
}

void FakeLock::Await(const std::function<bool(const std::optional<Lease>&)>& condition,
                     const base::testing::Where& where) const {
  base::MutexLock lock(mu_);
  base::testing::Patience patience("a lease that the test describes", where);
  while (!condition(lease_)) {
    patience.Wait(changed_, mu_, DescribeLocked(), counts_);
  }
}

void FakeLock::AwaitCount(std::string_view verb, int n, const base::testing::Where& where) const {
  base::MutexLock lock(mu_);
  base::testing::Patience patience(
      std::to_string(n) + " requests of the verb " + base::testing::Shown(verb), where);
  while (true) {
    const auto found = counts_.find(verb);
    if (found != counts_.end() && found->second >= n) {
      return;
    }
    patience.Wait(changed_, mu_, DescribeLocked(), counts_);
  }
}

std::string FakeLock::DescribeLocked() const {
  return lease_ ? "the lease of " + lease_->spec.holder_identity.value_or("nobody") +
                      " at version " + lease_->metadata.resource_version
                : "no lease";
}

}  // namespace kubexx::leaderelection::testing
