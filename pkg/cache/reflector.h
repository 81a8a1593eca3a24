/// @file
/// Reflector: keeps the content of a store equal to that of a ListerWatcher.
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
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/reflector_store.h"
#include "kubexx/cache/watch_tuning.h"

namespace kubexx::metrics {
class Registry;
}  // namespace kubexx::metrics

namespace kubexx::cache {

struct ReflectorMetrics;

/// Settings of a Reflector.
struct ReflectorOptions {
  base::Clock& clock = base::Clock::Real();
  /// When set, the reflector records reflector_* metrics here; must outlive the reflector.
  metrics::Registry* registry = nullptr;
  /// The seed of the jitter and of the watches' lifetimes; 0 takes one from the system.
  std::uint64_t seed = 0;
  /// How often the reflector calls the store's Resync, even while the watch is quiet; zero means
  /// never. Run has a thread of its own for this; as a task a reflector resyncs between two steps.
  base::Duration resync_period{0};
  /// When set, the reflector calls it before each resync and skips the resync when it returns false
  /// or throws.
  std::function<bool()> should_resync{};
  /// Whether to get the initial state with a streaming WatchList. If a server does not support it,
  /// the reflector uses LIST.
  bool use_watch_list = true;
  WatchTuning tuning{};
  /// An object whose namespace, name or resourceVersion is longer than this counts as one that
  /// cannot be read, because the caches of informers cannot store it. A store that can may set a
  /// larger limit.
  std::size_t max_key_part = kMaxKeyPart;
  /// Called for every failed list or watch, on the reflector's thread or in a step of its task,
  /// instead of LogWatchError;
  /// for sources that may be missing. As client-go's WatchErrorHandler. When it throws, the
  /// reflector logs and counts that, and logs the error that it was called for.
  std::function<void(const apimachinery::Status&)> on_error{};
};

/// Logs a warning about a failed list or watch; a watch that has expired, which is usual after a
/// restart of the API server, only at debug. As client-go's DefaultWatchErrorHandler.
void LogWatchError(std::string_view reflector, const apimachinery::Status& status);

/// Lists, then watches, for ever, and writes the changes into a ReflectorStore. It loses no change:
/// after a broken watch it resumes at the last version that the store took, and it lists again when
/// the server no longer has that version. When an item or event cannot be read, the reflector logs
/// and counts it, tells the store that it lacks something, and continues. When the watch ends the
/// next time, it lists again, because the object may be readable then. A source or a store that
/// throws has failed once more, with kInternalError, and the reflector counts that; so it does when
/// the system has no thread left for a watch's idle timeout, with kUnavailable.
///
/// Semantics of client-go's `tools/cache` Reflector, with two differences. A broken watch resumes
/// at the last version whatever broke it; the reflector lists again only when the server no longer
/// has that version, or does not have it yet, when the store refused a change, or after repeated
/// failures without progress. And after a refused watch it asks for the server's version first,
/// since a server that was restored from a backup keeps a watch open from a version that it has not
/// reached.
class Reflector {
 public:
  /// `name` is for logs and metrics. `store` must outlive the reflector.
  Reflector(std::string name, std::shared_ptr<ListerWatcher> source, ReflectorStore& store,
            ReflectorOptions options);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  ~Reflector();

  /// Changes ReflectorOptions::resync_period. Do not call it while the reflector runs.
  void SetResyncPeriod(base::Duration period) { options_.resync_period = period; }

  /// Runs until `stop` is requested, and waits on the calling thread; a ReflectorTask does the same
  /// without a thread of its own. May be called again after it has returned, and then starts with a
  /// full state.
  void Run(std::stop_token stop);

  /// Whether a ReflectorTask can run it: the source watches without a thread that waits.
  bool CanRunAsTask() const { return source_->CanStartWatch(); }

  /// The resourceVersion up to which the store has every change; empty before the first full state.
  /// Thread-safe.
  std::string LastSyncResourceVersion() const {
    const base::MutexLock lock(mu_);
    return last_rv_;
  }

 private:
  class Pass;
  friend class ReflectorTask;

  void ResyncLoop(const std::stop_token& stop);
  void ResyncOnce(const std::stop_token& stop);
  /// Tells on_error, or the log.
  void Report(const apimachinery::Status& failed) const;
  /// In a catch block: counts the exception and returns it as an error.
  apimachinery::Status Thrown() const;
  /// Returns what `call`, which is or may call code of others, returns, or what it throws.
  template <class Call>
  auto Guard(const Call& call) const -> decltype(call()) {
    try {
      return call();
    } catch (...) {
      return apimachinery::Fail(Thrown());
    }
  }
  void SetLastResourceVersion(const std::string& resource_version);

  std::string name_;
  std::shared_ptr<ListerWatcher> source_;
  ReflectorStore& store_;
  ReflectorOptions options_;
  const std::unique_ptr<const ReflectorMetrics> metrics_;
  base::ReportLimit unreadable_lines_{options_.clock};
  /// Held during calls of the store, which in Run come from two threads.
  base::Mutex store_mu_;
  mutable base::Mutex mu_;
  std::string last_rv_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_REFLECTOR_H_
