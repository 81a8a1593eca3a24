/// @file
/// InformerCore: the implementation of SharedInformer.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_CORE_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_CORE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/informer/delta_queue.h"
#include "kubexx/cache/internal/informer/distributor.h"
#include "kubexx/cache/internal/informer/informer_metrics.h"
#include "kubexx/cache/internal/informer/informer_store.h"
#include "kubexx/cache/internal/informer/listener.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/reflector_task.h"
#include "kubexx/cache/shared_informer_base.h"

namespace kubexx::cache {

/// Each source has a reflector, which fills the queue. The reflector is a task of the executor, or
/// has a thread of its own when the source can only be watched by a thread that waits. Other tasks
/// do the rest: the distribution moves the changes from the queue into the store and into the
/// listeners' queues, and each listener calls its handler.
class InformerCore {
 public:
  /// Takes one source of all objects, or one source for each of several namespaces.
  InformerCore(std::shared_ptr<ListerWatcher> source, InformerOptions options);
  InformerCore(std::vector<NamespacedSource> sources, InformerOptions options);
  ~InformerCore();
  InformerCore(const InformerCore&) = delete;
  InformerCore& operator=(const InformerCore&) = delete;

  /// See SharedInformerBase.
  void Start();
  void RequestStop();
  void Stop();
  bool OnOwnThread() const;
  void Retire();
  bool HasEnded() const;
  bool HasSynced() const;
  bool WaitForSync(const std::stop_token& stop) const;
  /// See SharedInformerBase.
  apimachinery::Result<void> AwaitSync(const std::stop_token& stop, base::Duration patience) const;
  apimachinery::Result<void> SyncError(std::string_view namespace_) const;
  /// Returns an error before the first full state of a namespace (of all namespaces if it is
  /// empty), and while the server refuses it.
  apimachinery::Result<void> CheckReadable(std::string_view namespace_) const;
  const std::string& name() const { return options_.name; }

  HandlerRegistration AddHandler(std::string name, SharedInformerBase::RawHandler handler,
                                 const HandlerOptions& options);
  bool HandlerHasSynced(std::string_view name) const;
  /// See SharedInformerBase::ReplaceNamespace.
  apimachinery::Result<std::shared_ptr<const std::atomic<bool>>> ReplaceNamespace(
      std::string namespace_, std::vector<Object>&& objects);

  PackedStore& store() { return *store_; }

 private:
  /// A source with the parts that bring its objects into the queue.
  struct Feed {
    Feed(InformerCore& core, NamespacedSource source, bool of_one_namespace);
    InformerStore store;
    Reflector reflector;
    std::optional<std::jthread> thread{};  ///< not of one that runs as a task
  };

  InformerCore(InformerOptions options, bool per_namespace);
  ReflectorOptions ReflectorOptionsFor(const std::string& namespace_, bool of_one_namespace);
  base::Duration ResyncPeriodFor(const HandlerOptions& options, const std::string& handler);
  void StartReflector(Feed& feed, const std::stop_token& stop) KX_REQUIRES(lifecycle_mu_);
  /// Does the work of a reflector's thread, which Stop joins.
  void RunOwn(base::FunctionRef<void()> run);
  bool StopRequested() const;
  bool IsRetired() const;
  void StartThreads(const std::stop_token& stop, base::Duration resync_check)
      KX_REQUIRES(lifecycle_mu_);
  void Join() KX_REQUIRES(lifecycle_mu_);
  /// Does one step of the distribution. Returns whether more deltas wait.
  bool Distribute();
  void Publish(base::TimePoint queued);
  void SetAvailable(const std::string& namespace_);
  void SetRead(const std::string& namespace_);
  void Failed(const std::string& namespace_, const apimachinery::Status& status);
  /// The reason why the informer has not synced, with the last error of any of its sources if there
  /// was one.
  apimachinery::Error UnsyncedLocked(apimachinery::Reason reason, std::string_view what) const
      KX_REQUIRES(mu_);
  apimachinery::Result<void> ReadableLocked(std::string_view namespace_) const KX_REQUIRES(mu_);
  void AttachWaiting();

  const InformerOptions options_;
  const std::shared_ptr<base::Executor> executor_;
  const InformerMetrics metrics_;
  const std::shared_ptr<PackedStore> store_;
  /// A handler that was added is among the awaited listeners until Start or the distribution takes
  /// it.
  const std::shared_ptr<ListenerSet> listeners_ = std::make_shared<ListenerSet>();
  DeltaQueue queue_;
  Distributor distributor_;
  std::vector<std::unique_ptr<Feed>> feeds_{};
  std::vector<std::string> namespaces_{};

  /// Is locked before the mutexes of the queue and of the listeners.
  mutable base::Mutex mu_;
  mutable base::CondVar synced_changed_;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool retired_ KX_GUARDED_BY(mu_) = false;
  /// The stop source of the run that Start began last.
  std::stop_source stop_ KX_GUARDED_BY(mu_){std::nostopstate};
  std::set<std::thread::id> own_threads_ KX_GUARDED_BY(mu_);  // of the reflectors that have threads
  /// The reflectors that run as tasks. They stay here until they have stopped.
  std::vector<std::shared_ptr<ReflectorTask>> reflector_tasks_ KX_GUARDED_BY(mu_);
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// The sync waits for the first full state since Start of each of these namespaces.
  std::set<std::string> unsynced_ KX_GUARDED_BY(mu_);
  /// The namespaces without a full state since Start. They include those that the server refuses,
  /// for which the sync does not wait.
  std::set<std::string> unread_ KX_GUARDED_BY(mu_);
  base::TimePoint started_ KX_GUARDED_BY(mu_){};
  /// The last errors of the sources without a first full state since Start.
  std::map<std::string, apimachinery::Status, std::less<>> errors_ KX_GUARDED_BY(mu_);
  /// How often the informer checks which listeners' resyncs are due; zero means never.
  base::Duration resync_check_ KX_GUARDED_BY(mu_){0};

  /// Start and Stop hold this mutex while they wait for threads, so these threads must not lock it.
  /// It is locked before mu_.
  base::Mutex lifecycle_mu_;
  /// Whether Start was called without a Join after it.
  bool is_started_ KX_GUARDED_BY(lifecycle_mu_) = false;
  base::OrderedTask distribution_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_CORE_H_
