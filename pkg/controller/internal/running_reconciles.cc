#include "kubexx/controller/internal/running_reconciles.h"

#include <chrono>

namespace kubexx::controller::internal {
namespace {

constexpr std::size_t kNamed = 5;

std::string Seconds(base::Duration duration) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

RunningReconciles::Entry RunningReconciles::Enter(const apimachinery::ObjectKey& key) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  return {*this, running_.insert(running_.end(), {key, now})};
}

RunningReconciles::Entry::~Entry() {
  const base::MutexLock lock(owner_.mu_);
  owner_.running_.erase(place_);
}

std::vector<std::string> RunningReconciles::Describe() const {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  std::vector<std::string> texts;
  for (const Running& each : running_) {
    if (texts.size() == kNamed) {
      texts.push_back("and " + std::to_string(running_.size() - kNamed) + " more");
      break;
    }
    texts.push_back("reconcile of " + each.key.ToString() + " for " + Seconds(now - each.began));
  }
  return texts;
}

}  // namespace kubexx::controller::internal
