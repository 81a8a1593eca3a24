#include "kubexx/leaderelection/config.h"

#include <algorithm>
#include <limits>

#include "kubexx/base/identity.h"

namespace kubexx::leaderelection {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

std::string Text(base::Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
}

// Longer times would overflow when they are added to a point in time; nobody waits a year.
constexpr base::Duration kMaxDuration = std::chrono::hours(24 * 365);

// The part of the lease that remains after renew_deadline, at least. LeadLimit leaves half of it to
// clocks of different speeds: 1 %, while NTP changes the speed of a clock by 0.05 % at most.
constexpr int kSmallestRest = 50;

}  // namespace

Result<void> Config::Validate() const {
  if (identity.empty()) {
    return Fail(Reason::kInvalidConfig, "leader election: identity must not be empty");
  }
  if (lease_duration < std::chrono::seconds(1) || lease_duration > kMaxDuration) {
    return Fail(Reason::kInvalidConfig, "leader election: lease_duration of " +
                                            Text(lease_duration) +
                                            " must be at least 1 s and at most a year");
  }
  if (retry_period <= base::Duration::zero()) {
    return Fail(Reason::kInvalidConfig,
                "leader election: retry_period of " + Text(retry_period) + " must be positive");
  }
  if (lease_duration <= renew_deadline) {
    return Fail(Reason::kInvalidConfig,
                "leader election: lease_duration of " + Text(lease_duration) +
                    " must be longer than renew_deadline of " + Text(renew_deadline));
  }
  if (const base::Duration longest = lease_duration - lease_duration / kSmallestRest;
      renew_deadline > longest) {
    return Fail(Reason::kInvalidConfig,
                "leader election: renew_deadline of " + Text(renew_deadline) + " must be at most " +
                    Text(longest) + " with lease_duration of " + Text(lease_duration) +
                    ", so that a leader has stopped before another may lead: make one shorter or "
                    "the other longer");
  }
  const std::chrono::duration<double, std::nano> longest_retry = retry_period * kJitterFactor;
  if (renew_deadline <= longest_retry) {
    return Fail(Reason::kInvalidConfig,
                "leader election: renew_deadline of " + Text(renew_deadline) +
                    " must be longer than 1.2 times retry_period of " + Text(retry_period));
  }
  return {};
}

base::Duration Config::RequestTimeout() const {
  return std::max<base::Duration>(std::chrono::seconds(1), renew_deadline / 2);
}

std::int32_t Config::LeaseDurationSeconds() const {
  // Rounded up: the others may wait longer than the leader thinks, never shorter.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(lease_duration).count();
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(seconds, std::numeric_limits<std::int32_t>::max()));
}

std::string DefaultIdentity() { return base::HostName() + "_" + base::RandomUuid(); }

}  // namespace kubexx::leaderelection
