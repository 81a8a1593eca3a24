#include "kubexx/cache/shared_informer.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/delta_queue.h"
#include "kubexx/cache/distributor.h"
#include "kubexx/cache/informer_store.h"
#include "kubexx/cache/listener.h"
#include "kubexx/cache/packed_store.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

struct InformerMetrics {
  InformerMetrics(metrics::Registry* registry, const std::string& name) {
    if (registry == nullptr) {
      return;
    }
    const metrics::Labels labels{{"name", name}};
    queued = registry->Gauge("informer_queued_items", "Changes between the reflector and the store",
                             labels);
    resource_version = registry->Gauge("informer_store_resource_version",
                                       "The store's resourceVersion, its last 15 digits", labels);
    objects = registry->Gauge("informer_store_objects", "Objects in the store", labels);
    bytes = registry->Gauge("informer_store_bytes", "Bytes that packed objects take", labels);
    dropped = registry->Counter("informer_transform_errors_total",
                                "Objects dropped because the transform refused them", labels);
  }
  metrics::Gauge queued{};
  metrics::Gauge resource_version{};
  metrics::Gauge objects{};
  metrics::Gauge bytes{};
  metrics::Counter dropped{};
};

ReflectorOptions ReflectorOptionsOf(const InformerOptions& options) {
  return {.clock = options.clock,
          .registry = options.registry,
          .seed = options.seed,
          .resync_period = options.resync_period,
          .use_watch_list = options.use_watch_list,
          .on_error = options.on_error};
}

}  // namespace

/// Three kinds of threads: the reflector's fills the queue, the informer's own empties it into the
/// store and the listeners' queues, each listener's calls its handler.
class SharedInformerBase::Impl {
 public:
  Impl(std::shared_ptr<ListerWatcher> source, InformerOptions options)
      : options_(std::move(options)),
        metrics_(options_.registry, options_.name),
        queue_({.clock = options_.clock, .queued = metrics_.queued}),
        reflector_store_(options_.name, *store_, queue_, options_.transform, metrics_.dropped),
        reflector_(options_.name, std::move(source), reflector_store_,
                   ReflectorOptionsOf(options_)),
        distributor_(store_, *listeners_) {}

  ~Impl() {
    Stop();
    for (const auto& listener : listeners_->All()) {
      listener->Close();
    }
  }

  void Start() {
    base::MutexLock lifecycle(lifecycle_mu_);
    if (distribution_thread_) {
      return;
    }
    queue_.Open();
    {
      base::MutexLock lock(mu_);
      running_ = true;
      synced_ = false;
    }
    listeners_->SetBounded(true);
    listeners_->Start();
    AttachWaiting();
    distribution_thread_.emplace([this] { Distribute(); });
    reflector_thread_.emplace([this](const std::stop_token& stop) { reflector_.Run(stop); });
  }

  void Stop() {
    base::MutexLock lifecycle(lifecycle_mu_);
    if (!distribution_thread_) {
      return;
    }
    // The delta that is being distributed is finished, whatever the handlers do: what the store
    // has, they must get.
    listeners_->SetBounded(false);
    queue_.Close();
    reflector_thread_.reset();
    distribution_thread_.reset();
    {
      base::MutexLock lock(mu_);
      running_ = false;
    }
    listeners_->Stop();
  }

  bool HasSynced() const {
    base::MutexLock lock(mu_);
    return synced_;
  }

  bool WaitForSync(const std::stop_token& stop) const {
    base::MutexLock lock(mu_);
    while (!synced_ && !stop.stop_requested()) {
      options_.clock.WaitUntil(mu_, synced_changed_, stop, base::TimePoint::max());
    }
    return synced_;
  }

  base::Subscription AddHandler(std::string name, RawHandler handler) {
    auto listener = std::make_shared<Listener>(
        Listener::Options{.informer = options_.name,
                          .name = std::move(name),
                          .clock = options_.clock,
                          .registry = options_.registry,
                          .max_events = std::max<std::size_t>(options_.handler_buffer, 1)},
        store_, std::move(handler));
    {
      base::MutexLock lock(mu_);
      waiting_.push_back(listener);
      if (running_) {
        queue_.Wake();
      }
    }
    return base::Subscription([listener, listeners = listeners_] {
      listener->Close();
      listeners->Remove(listener.get());
    });
  }

  bool HandlerHasSynced(std::string_view name) const {
    bool found = false;
    for (const auto& listener : listeners_->All()) {
      if (listener->name() == name) {
        found = true;
        if (!listener->synced()) {
          return false;
        }
      }
    }
    base::MutexLock lock(mu_);
    return found && std::ranges::none_of(waiting_, [name](const auto& listener) {
             return listener->name() == name && !listener->closed();
           });
  }

  PackedStore& store() { return *store_; }
  const PackedStore& store() const { return *store_; }

 private:
  void Distribute() {
    while (auto delta = queue_.Pop()) {
      AttachWaiting();
      const bool is_full_state = std::holds_alternative<ReplaceDelta>(*delta);
      distributor_.Apply(std::move(*delta));
      Publish();
      if (is_full_state) {
        base::MutexLock lock(mu_);
        synced_ = true;
        synced_changed_.notify_all();
      }
    }
  }

  void Publish() {
    if (options_.registry != nullptr) {
      metrics_.resource_version.Set(ResourceVersionForGauge(store_->resource_version()));
      metrics_.objects.Set(static_cast<double>(store_->size()));
      metrics_.bytes.Set(static_cast<double>(store_->bytes()));
    }
  }

  // On the informer's own thread, or just before it starts: no delta is distributed meanwhile.
  void AttachWaiting() {
    std::vector<std::shared_ptr<Listener>> waiting;
    bool synced = false;
    {
      base::MutexLock lock(mu_);
      waiting = waiting_;
      synced = synced_;
    }
    for (const auto& listener : waiting) {
      distributor_.Attach(listener, synced);
    }
    // Only now, so that a handler is at every moment in one of the two lists.
    base::MutexLock lock(mu_);
    std::erase_if(waiting_, [&waiting](const auto& listener) {
      return std::ranges::find(waiting, listener) != waiting.end();
    });
  }

  const InformerOptions options_;
  const InformerMetrics metrics_;
  std::shared_ptr<PackedStore> store_ = std::make_shared<PackedStore>();
  std::shared_ptr<ListenerSet> listeners_ = std::make_shared<ListenerSet>();
  DeltaQueue queue_;
  InformerStore reflector_store_;
  Reflector reflector_;
  Distributor distributor_;

  mutable base::Mutex mu_;
  mutable base::CondVar synced_changed_;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// Added, but not yet known to the distributor: until Start, or the informer's thread, comes by.
  std::vector<std::shared_ptr<Listener>> waiting_ KX_GUARDED_BY(mu_);

  /// Held by Start and Stop; before mu_.
  base::Mutex lifecycle_mu_;
  std::optional<std::jthread> distribution_thread_ KX_GUARDED_BY(lifecycle_mu_);
  std::optional<std::jthread> reflector_thread_ KX_GUARDED_BY(lifecycle_mu_);
};

SharedInformerBase::SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher,
                                       InformerOptions options)
    : impl_(std::make_unique<Impl>(std::move(lister_watcher), std::move(options))) {}
SharedInformerBase::~SharedInformerBase() = default;

void SharedInformerBase::Start() { impl_->Start(); }
void SharedInformerBase::Stop() { impl_->Stop(); }
bool SharedInformerBase::HasSynced() const { return impl_->HasSynced(); }
bool SharedInformerBase::WaitForSync(std::stop_token stop) const {
  return impl_->WaitForSync(stop);
}
std::string SharedInformerBase::LastSyncResourceVersion() const {
  return impl_->store().resource_version();
}

base::Subscription SharedInformerBase::AddRawHandler(std::string name, RawHandler handler) {
  return impl_->AddHandler(std::move(name), std::move(handler));
}
bool SharedInformerBase::HandlerHasSynced(std::string_view name) const {
  return impl_->HandlerHasSynced(name);
}

void SharedInformerBase::AddIndexer(std::function<IndexTerms(const Object&)> terms) {
  impl_->store().AddIndexer(std::move(terms));
}

Result<Object> SharedInformerBase::GetRaw(const ObjectKey& key) const {
  const EntryRef entry = impl_->store().Find(key);
  if (!entry) {
    return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the cache", 404);
  }
  return impl_->store().Unpack(*entry);
}

std::vector<ObjectKey> SharedInformerBase::Keys() const { return impl_->store().Keys(); }
std::vector<ObjectKey> SharedInformerBase::KeysByIndex(std::string_view index,
                                                       std::string_view value) const {
  return impl_->store().KeysByIndex(index, value);
}
std::size_t SharedInformerBase::Size() const { return impl_->store().size(); }
std::size_t SharedInformerBase::StoreBytes() const { return impl_->store().bytes(); }

void SharedInformerBase::ForEachRaw(base::FunctionRef<void(const Object&)> each) const {
  ForEachRaw({}, each);
}

void SharedInformerBase::ForEachRaw(std::string_view namespace_,
                                    base::FunctionRef<void(const Object&)> each) const {
  for (const EntryRef& entry : impl_->store().Entries()) {
    if (!namespace_.empty() && entry->namespace_() != namespace_) {
      continue;
    }
    if (const auto object = impl_->store().Unpack(*entry)) {
      each(*object);
    } else {
      ReportUndecodable({.key = entry->key()}, object.error());
    }
  }
}

void ReportUndecodable(const Object& raw, const apimachinery::Status& status) {
  logging::Error("cannot decode a cached object", {{"key", raw.key.ToString()}, {"error", status}});
}

}  // namespace kubexx::cache
