#include "kubexx/reloader/operator/settle.h"

#include <algorithm>

namespace kubexx::reloader {
namespace {

/// Of a key with a window of its own: a stream of changes is acted on after that many.
constexpr int kMaxWindows = 10;

}  // namespace

void SettleState::Note(const workqueue::Key& key, base::TimePoint now,
                       std::optional<base::Duration> window) {
  const auto [at, is_new] = entries_.try_emplace(key);
  Entry& entry = at->second;
  if (is_new) {
    entry.first = now;
  }
  if (entry.waits) {
    due_.erase({entry.due, key});
  }
  const base::Duration settle = window.value_or(options_.window);
  const base::Duration longest = window ? kMaxWindows * settle : options_.max_delay;
  const base::TimePoint due = std::min(now + settle, entry.first + longest);
  entry.due = entry.waits ? std::max(entry.due, due) : due;
  entry.waits = true;
  due_.emplace(entry.due, key);
}

void SettleState::Touch(const workqueue::Key& key, base::TimePoint now,
                        std::optional<base::Duration> window) {
  if (!entries_.contains(key)) {
    Note(key, now, window);
  }
}

base::TimePoint SettleState::NextDue() const {
  return due_.empty() ? base::TimePoint::max() : due_.begin()->first;
}

std::optional<workqueue::Key> SettleState::PopDue(base::TimePoint now) {
  if (due_.empty() || due_.begin()->first > now) {
    return std::nullopt;
  }
  workqueue::Key key = due_.begin()->second;
  due_.erase(due_.begin());
  entries_.at(key).waits = false;
  return key;
}

bool SettleState::Take(const workqueue::Key& key, base::TimePoint now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    return true;
  }
  if (found->second.waits && found->second.due > now) {
    return false;
  }
  Forget(key);
  return true;
}

std::vector<workqueue::Key> SettleState::PopAll() {
  std::vector<workqueue::Key> keys;
  keys.reserve(due_.size());
  for (const auto& [due, key] : due_) {
    keys.push_back(key);
  }
  due_.clear();
  entries_.clear();
  return keys;
}

void SettleState::Forget(const workqueue::Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    return;
  }
  if (found->second.waits) {
    due_.erase({found->second.due, key});
  }
  entries_.erase(found);
}

Settler::Settler(SettleState::Options options, base::Clock& clock,
                 std::function<void(workqueue::Key)> on_due)
    : clock_(clock),
      on_due_(std::move(on_due)),
      state_(options),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Settler::Note(const workqueue::Key& key, std::optional<base::Duration> window) {
  {
    const base::MutexLock lock(mu_);
    state_.Note(key, clock_.Now(), window);
  }
  changed_.notify_all();
}

void Settler::Touch(const workqueue::Key& key, std::optional<base::Duration> window) {
  {
    const base::MutexLock lock(mu_);
    state_.Touch(key, clock_.Now(), window);
  }
  changed_.notify_all();
}

bool Settler::Take(const workqueue::Key& key) {
  const base::MutexLock lock(mu_);
  return state_.Take(key, clock_.Now());
}

void Settler::Forget(const workqueue::Key& key) {
  const base::MutexLock lock(mu_);
  state_.Forget(key);
}

std::vector<workqueue::Key> Settler::Flush() {
  const base::MutexLock lock(mu_);
  return state_.PopAll();
}

std::size_t Settler::size() const {
  const base::MutexLock lock(mu_);
  return state_.size();
}

void Settler::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<workqueue::Key> key;
    {
      const base::MutexLock lock(mu_);
      key = state_.PopDue(clock_.Now());
      if (!key) {
        clock_.WaitUntil(mu_, changed_, stop, state_.NextDue());
      }
    }
    if (key) {
      on_due_(*std::move(key));  // outside the lock: it is the user's code
    }
  }
}

}  // namespace kubexx::reloader
