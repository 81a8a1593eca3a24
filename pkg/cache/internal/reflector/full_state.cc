#include "kubexx/cache/internal/reflector/full_state.h"

#include <chrono>
#include <cstdint>

#include "kubexx/logging/log.h"

namespace kubexx::cache::internal {
namespace {

constexpr base::Duration kSlowList = std::chrono::seconds(10);

}  // namespace

void FullState::Begin() {
  replacement_.reset();
  {
    base::MutexLock lock(store_mu_);
    replacement_ = store_.BeginReplace();
  }
  began_ = clock_.Now();
  items_ = 0;
  metrics_.lists.Increment();
  if (committed_once_) {
    metrics_.relists.Increment();
  }
}

apimachinery::Result<void> FullState::Commit(const std::string& resource_version) {
  const auto replacement = std::move(replacement_);
  base::MutexLock lock(store_mu_);
  KX_RETURN_IF_ERROR(replacement->Commit(resource_version));
  const base::Duration lasted = clock_.Now() - began_;
  const double seconds = std::chrono::duration<double>(lasted).count();
  metrics_.list_seconds.Observe(seconds);
  if (lasted > kSlowList) {
    logging::Info("A list took long", {{"reflector", name_},
                                       {"objects", static_cast<std::int64_t>(items_)},
                                       {"seconds", seconds}});
  }
  metrics_.items_per_list.Observe(static_cast<double>(items_));
  committed_once_ = true;
  return {};
}

}  // namespace kubexx::cache::internal
