/// @file
/// Reflector: keeps a store equal to what a ListerWatcher has.
#ifndef KUBEXX_CACHE_REFLECTOR_H_
#define KUBEXX_CACHE_REFLECTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/internal/reflector/reflector_state.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/reflector_store.h"
#include "kubexx/cache/watch_tuning.h"

namespace kubexx::cache {

/// Settings of a Reflector.
struct ReflectorOptions {
  base::Clock& clock = base::Clock::Real();
  /// Records reflector_* metrics there when set; must outlive the reflector.
  metrics::Registry* registry = nullptr;
  /// Of the jitter and of the watches' lifetimes; 0 takes one from the system.
  std::uint64_t seed = 0;
  /// Calls the store's Resync this often, on a thread of its own, also while the watch is quiet;
  /// zero means never.
  base::Duration resync_period{0};
  /// Asked before each resync, on the resync thread, when set: false leaves that one out.
  std::function<bool()> should_resync{};
  /// Get the initial state with a streaming WatchList; servers that cannot are asked with LIST.
  bool use_watch_list = true;
  WatchTuning tuning{};
  /// An object whose namespace, name or resourceVersion is longer counts as one that cannot be
  /// read: the caches of informers have no place for it. A store that has may take more.
  std::size_t max_key_part = kMaxKeyPart;
  /// Told of every failed list or watch, on the reflector's thread, in place of LogWatchError: for
  /// sources that may be missing. As client-go's WatchErrorHandler.
  std::function<void(const apimachinery::Status&)> on_error{};
};

/// The warning about a failed list or watch. As client-go's DefaultWatchErrorHandler.
void LogWatchError(std::string_view reflector, const apimachinery::Status& status);

/// Lists, then watches, for ever; feeds a ReflectorStore. No change is lost: after a broken watch
/// it resumes at the last version that the store took, and lists again when the server no longer
/// has it. An item or event that cannot be read is logged, counted and left out, the store is told
/// that it lacks something, and the next time that the watch ends the state is listed anew, in the
/// hope that it can be read then. Semantics of client-go's `tools/cache` Reflector; ReflectorState
/// says where they differ.
class Reflector {
 public:
  /// `name` is for logs and metrics. `store` must outlive the reflector.
  Reflector(std::string name, std::shared_ptr<ListerWatcher> source, ReflectorStore& store,
            ReflectorOptions options);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  /// Changes ReflectorOptions::resync_period; not while it runs.
  void SetResyncPeriod(base::Duration period) { options_.resync_period = period; }

  /// Runs until `stop`; may be called again after it has returned, and begins with a full state
  /// then.
  void Run(std::stop_token stop);

  /// The version up to which the store has every change; empty before the first full state.
  /// Thread-safe.
  std::string LastSyncResourceVersion() const;

 private:
  class Pass;

  void ResyncLoop(const std::stop_token& stop);
  void SetLastResourceVersion(const std::string& resource_version);

  std::string name_;
  std::shared_ptr<ListerWatcher> source_;
  ReflectorStore& store_;
  ReflectorOptions options_;
  ReflectorMetrics metrics_;
  base::ReportLimit unreadable_lines_{options_.clock};
  /// Held around calls of the store, which come from the thread in Run and from the resync thread.
  base::Mutex store_mu_;
  mutable base::Mutex mu_;
  std::string last_rv_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_REFLECTOR_H_
