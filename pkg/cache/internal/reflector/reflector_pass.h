/// @file
/// Reflector::Pass: the thin shell around ReflectorState that waits, asks and stores.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_PASS_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_PASS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/backoff.h"
#include "kubexx/cache/internal/reflector/full_state.h"
#include "kubexx/cache/internal/reflector/internal_error_window.h"
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/internal/reflector/reflector_state.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/reflector.h"

namespace kubexx::cache {

/// One Run, on a thread that waits, or the same in steps that do not wait for the events of a
/// watch. Used by one thread at a time.
class Reflector::Pass {
 public:
  Pass(Reflector& owner, std::stop_token stop);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass();

  /// Returns when the stop is requested.
  void Run();

  /// What a pass that does not wait asks of whoever runs it.
  struct Turn {
    bool more = false;  ///< there is more to do at once
    /// Else: when there is, unless it was told before.
    base::TimePoint at = base::TimePoint::max();
  };
  /// Does some of what there is to do, and nothing while the store has no room. `tell` has StepOn
  /// called once more; it lives as long as anybody has a copy. A list, the begin of a watch, and a
  /// question for the version block until the server has answered; nothing else does.
  Turn StepOn(const std::function<void()>& tell);

 private:
  base::Duration DelayOf(const ReflectorAction& action);
  double Random() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  ReflectorInput Try(const ReflectorAction& action);
  void StartResync();
  ReflectorInput Execute(const ReflectorAction& action);
  void Miss(const apimachinery::Status& why);
  /// Keeps a refusal of the store, or what it throws, apart from an error of the source, through
  /// whose code no exception passes.
  template <class Call>
  apimachinery::Result<void> Store(const Call& call) {
    apimachinery::Result<void> result = owner_.Guard(call);
    if (!result) {
      store_error_ = result.error();
    }
    return result;
  }
  ReflectorInput ListPage(const ReflectorAction& action);
  ReflectorInput CommitList(const std::string& resource_version);
  ReflectorInput AskVersion();
  ReflectorInput Watch(const ReflectorAction& action);
  /// The options of the request for a watch that begins now.
  apimachinery::ListOptions BeginWatch(const ReflectorAction& action);
  ReflectorInput EndWatch(apimachinery::Result<void> result, bool fell_silent);
  bool HasWorked(const apimachinery::Result<void>& watch) const;
  apimachinery::Result<void> ShowAll();
  apimachinery::Result<void> CheckOrder(const WatchEvent& event);
  apimachinery::Result<void> Apply(WatchEvent&& event);
  apimachinery::Result<void> Leave(const WatchEvent& event);
  apimachinery::Result<void> ApplyInitial(WatchEvent&& event);

  // Of StepOn.
  /// Returns the outcome of the action when it has one.
  std::optional<ReflectorInput> Advance(const std::function<void()>& tell, Turn& turn);
  std::optional<ReflectorInput> OpenTheWatch(const std::function<void()>& tell);
  std::optional<ReflectorInput> ReadTheWatch(Turn& turn);
  base::TimePoint SilentUntil() const;
  void ResyncIfDue();

  Reflector& owner_;
  base::Clock& clock_;
  const ReflectorMetrics& metrics_;
  std::stop_token stop_;
  std::mt19937_64 random_;
  Backoff backoff_;
  internal::InternalErrorWindow internal_errors_;
  ReflectorState state_;

  internal::FullState full_state_;
  std::optional<apimachinery::Status> store_error_{};
  std::size_t watch_items_ = 0;
  base::TimePoint watch_began_{};
  /// The last request was a list, or the question for the version, and had an answer.
  bool answered_ = false;

  // Of StepOn.
  std::optional<ReflectorAction> action_{};
  base::TimePoint not_before_{};  ///< when the action is to begin
  /// Of the watch: of itself it stops only with the pass. Before the watch, which may use it.
  std::stop_source watch_stop_{std::nostopstate};
  std::optional<std::stop_callback<std::function<void()>>> on_stop_{};
  std::unique_ptr<OpenWatch> watch_{};
  /// When the watch counts as dead if it brings nothing; max() while the store holds it back.
  base::TimePoint silent_until_ = base::TimePoint::max();
  base::TimePoint next_resync_{};

  std::optional<std::jthread> resync_{};  // Last, so that it ends first.
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_PASS_H_
