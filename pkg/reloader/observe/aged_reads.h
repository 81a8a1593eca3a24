/// @file
/// What a server has answered lately, for somebody who looks at things that are not watched.
#ifndef KUBEXX_RELOADER_OBSERVE_AGED_READS_H_
#define KUBEXX_RELOADER_OBSERVE_AGED_READS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/stop_timer.h"

namespace kubexx::reloader {

/// Keeps an answer for each key, and reads it again when it is asked for and too old. Those who ask
/// at the same time each get a whole answer. Answers can be compared with ==. Thread-safe; no lock
/// is held while the server is asked.
template <class Key, class Answer>
class AgedReads {
 public:
  struct Options {
    /// Asks the server; may block. Called by several threads at once.
    std::function<apimachinery::Result<Answer>(const Key&, const std::stop_token&)> read{};
    base::Clock& clock = base::Clock::Real();
    base::Duration age = std::chrono::seconds(10);
    /// An error is given again for so long: others may wait for the one who asks.
    base::Duration failure_age = std::chrono::seconds(2);
    /// What one read takes at most.
    base::Duration patience = std::chrono::seconds(5);
    /// How many answers are kept; beyond that the oldest goes.
    std::size_t max = 1000;
  };
  explicit AgedReads(Options options) : options_(std::move(options)) {}

  /// The answer, at most Options::age old. Fails as Options::read does.
  apimachinery::Result<Answer> Get(const Key& key, const std::stop_token& stop) {
    {
      const base::MutexLock lock(mu_);
      const auto found = kept_.find(key);
      if (found != kept_.end() && !IsOld(found->second)) {
        const Kept& kept = found->second;
        return kept.error ? apimachinery::Result<Answer>(apimachinery::Fail(*kept.error))
                          : apimachinery::Result<Answer>(*kept.answer);
      }
    }
    const base::TimePoint asked = options_.clock.Now();
    const base::StopTimer deadline(options_.clock, stop, options_.patience);
    auto answer = options_.read(key, deadline.token());
    if (!stop.stop_requested()) {
      Keep(key, answer, asked);
    }
    return answer;
  }

  /// Reads up to `count` answers again that are too old, the oldest first, and ends at an error.
  /// Forgets those that `is_needed` does not name; it must not call this object.
  void Refresh(std::size_t count, base::FunctionRef<bool(const Key&)> is_needed,
               const std::stop_token& stop) {
    for (const Key& key : Old(count, is_needed)) {
      if (stop.stop_requested() || !Get(key, stop)) {
        return;
      }
    }
  }

  /// The keys whose answers have become others since the last call, or could not be had for a
  /// while.
  std::vector<Key> TakeChanged() {
    const base::MutexLock lock(mu_);
    std::vector<Key> changed;
    for (auto& [key, kept] : kept_) {
      if (std::exchange(kept.has_changed, false)) {
        changed.push_back(key);
      }
    }
    return changed;
  }

 private:
  struct Kept {
    base::TimePoint asked{};
    std::optional<Answer> answer{};  ///< the last one that was none of the errors
    std::optional<apimachinery::Status> error{};
    bool has_changed = false;
  };

  bool IsOld(const Kept& kept) const {
    return options_.clock.Now() - kept.asked >= (kept.error ? options_.failure_age : options_.age);
  }

  void Keep(const Key& key, const apimachinery::Result<Answer>& answer, base::TimePoint asked) {
    const base::MutexLock lock(mu_);
    if (kept_.size() >= options_.max && !kept_.contains(key)) {
      kept_.erase(
          std::ranges::min_element(kept_, {}, [](const auto& each) { return each.second.asked; }));
    }
    const auto [found, is_new] = kept_.try_emplace(key);
    Kept& kept = found->second;
    if (!is_new && asked < kept.asked) {
      return;  // another has asked later, and was faster
    }
    kept.asked = asked;
    if (!answer) {
      kept.error = answer.error();
      return;
    }
    // Who has got the error since then looks again.
    kept.has_changed = kept.has_changed || kept.error || (kept.answer && *kept.answer != *answer);
    kept.error.reset();
    kept.answer = *answer;
  }

  std::vector<Key> Old(std::size_t count, base::FunctionRef<bool(const Key&)> is_needed) {
    std::vector<std::pair<base::TimePoint, Key>> old;
    {
      const base::MutexLock lock(mu_);
      for (const auto& [key, kept] : kept_) {
        if (IsOld(kept)) {
          old.emplace_back(kept.asked, key);
        }
      }
    }
    std::ranges::sort(old);
    std::vector<Key> due;
    for (auto& [asked, key] : old) {
      if (!is_needed(key)) {
        const base::MutexLock lock(mu_);
        kept_.erase(key);
      } else if (due.size() < count) {
        due.push_back(std::move(key));
      }
    }
    return due;
  }

  const Options options_;
  base::Mutex mu_;
  std::map<Key, Kept> kept_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_AGED_READS_H_
