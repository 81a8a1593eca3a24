/// @file
/// What runs inside a SharedInformer.
#ifndef KUBEXX_CACHE_INFORMER_CORE_H_
#define KUBEXX_CACHE_INFORMER_CORE_H_

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/delta_queue.h"
#include "kubexx/cache/distributor.h"
#include "kubexx/cache/informer_metrics.h"
#include "kubexx/cache/informer_store.h"
#include "kubexx/cache/listener.h"
#include "kubexx/cache/packed_store.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/shared_informer.h"

namespace kubexx::cache {

/// Three kinds of threads: those of the reflectors, one a source, fill the queue, the informer's
/// own empties it into the store and the listeners' queues, each listener's calls its handler.
class InformerCore {
 public:
  /// One source of all objects, or one for each of several namespaces.
  InformerCore(std::shared_ptr<ListerWatcher> source, InformerOptions options);
  InformerCore(std::vector<NamespacedSource> sources, InformerOptions options);
  ~InformerCore();
  InformerCore(const InformerCore&) = delete;
  InformerCore& operator=(const InformerCore&) = delete;

  void Start();
  void Stop();
  bool HasSynced() const;
  bool WaitForSync(const std::stop_token& stop) const;

  HandlerRegistration AddHandler(std::string name, SharedInformerBase::RawHandler handler,
                                 const HandlerOptions& options);
  bool HandlerHasSynced(std::string_view name) const;

  PackedStore& store() { return *store_; }

 private:
  /// A source, and what brings its objects into the queue.
  struct Feed {
    Feed(InformerCore& core, NamespacedSource source, bool of_one_namespace);
    InformerStore store;
    Reflector reflector;
    std::optional<std::jthread> thread{};
  };

  InformerCore(InformerOptions options, bool per_namespace);
  ReflectorOptions ReflectorOptionsFor(const std::string& namespace_, bool of_one_namespace);
  base::Duration ResyncPeriodFor(const HandlerOptions& options, const std::string& handler);
  void Distribute();
  void Publish(base::TimePoint queued);
  void SetAvailable(const std::string& namespace_);
  void AttachWaiting();

  const InformerOptions options_;
  const InformerMetrics metrics_;
  const std::shared_ptr<PackedStore> store_;
  const std::shared_ptr<ListenerSet> listeners_ = std::make_shared<ListenerSet>();
  DeltaQueue queue_;
  Distributor distributor_;
  std::vector<std::unique_ptr<Feed>> feeds_{};
  std::vector<std::string> namespaces_{};

  mutable base::Mutex mu_;
  mutable base::CondVar synced_changed_;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// Whose first full state since Start is awaited.
  std::set<std::string> unsynced_ KX_GUARDED_BY(mu_);
  /// How often the listeners are looked at for resyncs that are due; zero means never.
  base::Duration resync_check_ KX_GUARDED_BY(mu_){0};
  /// Added, but not yet known to the distributor: until Start, or the informer's thread, comes by.
  std::vector<std::shared_ptr<Listener>> waiting_ KX_GUARDED_BY(mu_);

  /// Held by Start and Stop; before mu_.
  base::Mutex lifecycle_mu_;
  std::optional<std::jthread> distribution_thread_ KX_GUARDED_BY(lifecycle_mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_CORE_H_
