#include "copier.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::simulation {
namespace {

constexpr int kCopyists = 2;
/// The longest that it takes to copy one.
constexpr std::int64_t kMostMilliseconds = 5000;

}  // namespace

Copier::Copier(Look look, oracle::Random random)
    : look_(std::move(look)), queue_(workqueue::Queue::Options{}), random_(random) {
  for (int i = 0; i < kCopyists; ++i) {
    workers_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
}

void Copier::Changed(const apimachinery::ObjectKey& key) { queue_.Add({"object", key}); }

void Copier::Work(const std::stop_token& stop) {
  for (auto item = queue_.Get(stop); item; item = queue_.Next(std::move(item), stop)) {
    const apimachinery::ObjectKey key = item->object;
    const std::string version = look_(key);
    std::int64_t takes = 0;
    {
      const base::MutexLock lock(mu_);
      takes = random_.Between(0, kMostMilliseconds);
    }
    base::Clock::Real().SleepFor(std::chrono::milliseconds(takes), stop);
    const base::MutexLock lock(mu_);
    if (version == "none") {
      copies_.erase(key);
    } else {
      copies_[key] = version;
    }
  }
}

std::map<apimachinery::ObjectKey, std::string> Copier::copies() {
  const base::MutexLock lock(mu_);
  return copies_;
}

}  // namespace kubexx::simulation
