/// @file
/// Reflector::Pass: the thin shell around ReflectorState that waits, sends requests and stores
/// objects.
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

/// The work of one Run. It can be done by a thread that waits, or in steps that do not wait for the
/// events of a watch. Only one thread at a time may use a Pass.
class Reflector::Pass {
 public:
  Pass(Reflector& owner, std::stop_token stop);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass();

  /// Works until the stop is requested, and returns then.
  void Run();

  /// The result of a step: it tells when the next step is due.
  struct Turn {
    bool more = false;  ///< there is more to do at once
    /// When `more` is false, the time of the next step, which comes earlier if `tell` was called.
    base::TimePoint at = base::TimePoint::max();
  };
  /// Does a part of the work that is due, and nothing while the store has no room. The pass calls
  /// `tell` when StepOn has to be called once more; `tell` has to stay valid as long as anybody has
  /// a copy of it. A list, the begin of a watch and a request for the current version block until
  /// the server has answered; nothing else blocks.
  Turn StepOn(const std::function<void()>& tell);

 private:
  base::Duration DelayOf(const ReflectorAction& action);
  double Random() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  ReflectorInput Try(const ReflectorAction& action);
  void StartResync();
  ReflectorInput Execute(const ReflectorAction& action);
  void Miss(const apimachinery::Status& why);
  /// Calls `call` and keeps a refusal or an exception of the store as `store_error_`, apart from
  /// errors of the source. So no exception passes through the source's code.
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
  /// Returns the error that ends the watch when the last event was the first one that could not be
  /// read since the store had a complete state.
  apimachinery::Result<void> CheckComplete();
  apimachinery::Result<void> ApplyInitial(WatchEvent&& event);

  // These functions are parts of StepOn.
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
  std::optional<apimachinery::Status> lost_change_{};  ///< see CheckComplete
  std::size_t watch_items_ = 0;
  base::TimePoint watch_began_{};
  /// Whether the last request was a list or a request for the current version, and the server
  /// answered it.
  bool answered_ = false;

  // These members are used by StepOn.
  std::optional<ReflectorAction> action_{};
  base::TimePoint not_before_{};  ///< when the action is to begin
  /// Stops the watch, and is requested only when the pass stops. It is declared before the watch,
  /// which may use it.
  std::stop_source watch_stop_{std::nostopstate};
  std::optional<std::stop_callback<std::function<void()>>> on_stop_{};
  std::unique_ptr<OpenWatch> watch_{};
  /// The time at which the watch counts as dead if it brings nothing. It is max() while the store
  /// holds the watch back.
  base::TimePoint silent_until_ = base::TimePoint::max();
  base::TimePoint next_resync_{};

  std::optional<std::jthread> resync_{};  // This is the last member, so that it ends first.
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_PASS_H_
