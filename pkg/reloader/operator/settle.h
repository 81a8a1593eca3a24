/// @file
/// The settle window: a burst of changes becomes one reconcile, at its trailing edge.
#ifndef KUBEXX_RELOADER_OPERATOR_SETTLE_H_
#define KUBEXX_RELOADER_OPERATOR_SETTLE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

/// Which keys wait, and until when. A key is due `window` after its latest change, but at most
/// `max_delay` after the first change that has not been acted on, so that a stream of edits without
/// a pause is still acted on. Not thread-safe; time is passed in.
class SettleState {
 public:
  struct Options {
    base::Duration window = std::chrono::milliseconds(100);
    base::Duration max_delay = std::chrono::seconds(1);
  };
  explicit SettleState(Options options) : options_(options) {}

  /// Notes a change of `key`. With a `window` of its own max_delay is ten of these. No change
  /// makes an earlier one due sooner.
  void Note(const workqueue::Key& key, base::TimePoint now,
            std::optional<base::Duration> window = std::nullopt);
  /// Has `key` looked at one window from now, unless it will be anyway: for events that are no
  /// change of configuration and must not put off what is.
  void Touch(const workqueue::Key& key, base::TimePoint now,
             std::optional<base::Duration> window = std::nullopt);
  /// When the next key falls due; TimePoint::max() when none waits.
  base::TimePoint NextDue() const;
  /// The key that is due at `now`, earliest first; nothing when there is none. The key is not given
  /// again until it is noted again.
  std::optional<workqueue::Key> PopDue(base::TimePoint now);
  /// Asks to act on `key` at `now`. False when a change is still settling: the key will fall due.
  /// Otherwise its changes count as acted on.
  bool Take(const workqueue::Key& key, base::TimePoint now);
  /// All keys that wait; they count as acted on.
  std::vector<workqueue::Key> PopAll();
  void Forget(const workqueue::Key& key);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    base::TimePoint first{};
    base::TimePoint due{};
    bool waits = false;  ///< in due_
  };

  Options options_;
  std::unordered_map<workqueue::Key, Entry> entries_;
  std::set<std::pair<base::TimePoint, workqueue::Key>> due_;
};

/// A SettleState with a thread that hands keys on when they fall due. Thread-safe.
class Settler {
 public:
  /// `on_due` is called on the settler's thread and must not block; it may call the settler.
  Settler(SettleState::Options options, base::Clock& clock,
          std::function<void(workqueue::Key)> on_due);

  void Note(const workqueue::Key& key, std::optional<base::Duration> window = std::nullopt);
  void Touch(const workqueue::Key& key, std::optional<base::Duration> window = std::nullopt);
  /// See SettleState::Take; a worker asks before it acts on a key, however the key came to it.
  bool Take(const workqueue::Key& key);
  void Forget(const workqueue::Key& key);
  /// Cuts all windows short: takes out the keys that wait, for a stop that loses nothing.
  std::vector<workqueue::Key> Flush();
  /// Keys with changes that have not been acted on.
  std::size_t size() const;

 private:
  void Run(const std::stop_token& stop);

  base::Clock& clock_;
  const std::function<void(workqueue::Key)> on_due_;
  mutable base::Mutex mu_;
  base::CondVar changed_;
  SettleState state_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: stops and joins before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_SETTLE_H_
