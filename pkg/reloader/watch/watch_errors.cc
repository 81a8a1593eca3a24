#include "kubexx/reloader/watch/watch_errors.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

constexpr base::Duration kFirst = std::chrono::minutes(1);
constexpr base::Duration kLongest = std::chrono::minutes(30);
/// Longer than any pause between two tries.
constexpr base::Duration kIsOver = std::chrono::minutes(3);

/// Whether there was no answer of the API server, but perhaps one of what is in front of it.
bool IsUnreachable(const apimachinery::Status& status) {
  return (status.code == 0 &&
          (status.reason == Reason::kUnavailable || status.reason == Reason::kTimeout)) ||
         (status.code >= 502 && status.code <= 504);
}

/// The error without the namespace whose watch has it.
std::string WithoutNamespace(std::string error) {
  constexpr std::string_view kPrefix = "namespace ";
  const std::size_t begin = error.find(kPrefix);
  const std::size_t end = begin == std::string::npos ? begin : error.find(": ", begin);
  return end == std::string::npos ? error : error.erase(begin, end - begin);
}

}  // namespace

bool WatchErrors::IsFirstOfMinute() {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  if (now < quiet_until_) {
    return false;
  }
  quiet_until_ = now + std::chrono::minutes(1);
  return true;
}

void WatchErrors::LogUnreachable(const apimachinery::Status& status) {
  const base::TimePoint now = clock_.Now();
  std::int64_t left_out = 0;
  {
    const base::MutexLock lock(mu_);
    std::erase_if(repeated_, [now](const auto& each) { return now - each.second.last > kIsOver; });
    std::string error = WithoutNamespace(status.ToString());
    if (repeated_.size() >= kMaxKept && !repeated_.contains(error)) {
      repeated_.clear();
    }
    Repeated& repeated = repeated_[std::move(error)];
    repeated.last = now;
    if (now < repeated.next_line) {
      ++repeated.left_out;
      return;
    }
    repeated.interval = std::clamp<base::Duration>(2 * repeated.interval, kFirst, kLongest);
    repeated.next_line = now + repeated.interval;
    left_out = std::exchange(repeated.left_out, 0);
  }
  if (left_out == 0) {
    cache::LogWatchError(resource_, status);
    return;
  }
  logging::Warning("Still cannot list and watch",
                   {{"reflector", resource_}, {"error", status}, {"others", left_out}});
}

void WatchErrors::Log(const apimachinery::Status& status) {
  if (IsUnreachable(status)) {
    LogUnreachable(status);
    return;
  }
  cache::LogWatchError(resource_, status);
  if (apimachinery::IsExpired(status) && IsFirstOfMinute()) {
    logging::Info(
        "The API server no longer has the versions from which watches would go on, so the operator "
        "lists anew",
        {{"resource", resource_}, {"error", status}});
  }
}

}  // namespace kubexx::reloader
