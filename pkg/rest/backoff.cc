#include "kubexx/rest/backoff.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace kubexx::rest {
namespace {

std::optional<base::Duration> Seconds(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start-up
  const std::string_view text = value == nullptr ? "" : value;
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

base::Duration ExponentialBackoff::Delay(const std::string& host) {
  base::MutexLock lock(mu_);
  const auto found = delays_.find(host);
  return found == delays_.end() ? base::Duration::zero() : found->second;
}

void ExponentialBackoff::Update(const std::string& host, int code) {
  base::MutexLock lock(mu_);
  if (code != 429 && code < 500) {
    delays_.erase(host);
    return;
  }
  const auto found = delays_.find(host);
  if (found != delays_.end()) {
    found->second = std::min(found->second * 2, maximum_);
  } else if (delays_.size() < kMaxHosts) {
    delays_.emplace(host, std::min(initial_, maximum_));
  }
}

std::shared_ptr<BackoffManager> BackoffFromEnvironment() {
  const auto initial = Seconds("KUBE_CLIENT_BACKOFF_BASE");
  const auto maximum = Seconds("KUBE_CLIENT_BACKOFF_DURATION");
  if (!initial || !maximum) {
    return nullptr;
  }
  return std::make_shared<ExponentialBackoff>(*initial, *maximum);
}

}  // namespace kubexx::rest
