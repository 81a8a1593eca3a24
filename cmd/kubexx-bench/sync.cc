#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "informer.h"

namespace kubexx::bench {
namespace {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

/// Counts what handlers are given; reading something keeps the compiler from dropping the reads.
struct Seen {
  std::atomic<std::uint64_t> objects = 0;
  std::atomic<std::uint64_t> bytes = 0;
};

template <class T>
base::Subscription AddHandler(const Options& options, cache::SharedInformer<T>& informer,
                              Seen& seen) {
  if (options.handler == "key" || options.handler == "default") {
    return informer.AddRawHandler(kHandler, [&seen](const cache::RawEvent& event) {
      seen.bytes.fetch_add(event.key().name.size(), std::memory_order_relaxed);
      seen.objects.fetch_add(1, std::memory_order_relaxed);
    });
  }
  if (options.handler == "object") {
    const auto on_add = [&seen](const cache::Ref<T>& object, bool) {
      seen.bytes.fetch_add(object->metadata.uid.size(), std::memory_order_relaxed);
      seen.objects.fetch_add(1, std::memory_order_relaxed);
    };
    return informer.AddEventHandler(kHandler, {.on_add = on_add});
  }
  return {};
}

/// Whether a decoded object has what every object of a server has, managedFields included.
template <class T>
bool IsWhole(const T& object, const ObjectKey& key) {
  const auto& meta = object.metadata;
  return meta.name == key.name && meta.namespace_ == key.namespace_ && !meta.uid.empty() &&
         !meta.resource_version.empty() && !meta.managed_fields.empty() &&
         !meta.managed_fields.front().manager.empty() && meta.managed_fields.front().fields_v1 &&
         !meta.managed_fields.front().fields_v1->raw.empty();
}

bool IsWhole(const api::core::v1::Pod& pod, const ObjectKey& key) {
  return IsWhole<api::core::v1::Pod>(pod, key) && !pod.spec.containers.empty() &&
         !pod.spec.containers.front().image.empty() && !pod.spec.tolerations.empty();
}

template <class T>
Result<void> CheckObjects(const Options& options, const cache::SharedInformer<T>& informer,
                          const std::vector<ObjectKey>& keys) {
  std::mt19937_64 random(1);  // NOLINT(bugprone-random-generator-seed): the same objects each time
  for (std::int64_t i = 0; i < options.check && !keys.empty(); ++i) {
    const ObjectKey& key = keys[random() % keys.size()];
    KX_ASSIGN_OR_RETURN(const cache::Ref<T> object, informer.Get(key));
    if (!IsWhole(*object, key)) {
      return Fail(Reason::kInternalError, "the cached object " + key.ToString() + " is not whole");
    }
  }
  return {};
}

/// Reads random objects through the lister, then keys alone, then an index.
template <class T>
Result<void> Reads(const Options& options, informers::SharedInformerFactory& factory,
                   const std::vector<ObjectKey>& keys, Line& line) {
  const cache::Lister<T> lister = factory.ListerFor<T>();
  const auto informer = factory.InformerFor<T>();
  std::mt19937_64 random(2);  // NOLINT(bugprone-random-generator-seed): as above
  std::size_t seen = 0;
  const Meter gets;
  for (std::int64_t i = 0; i < options.reads; ++i) {
    const ObjectKey& key = keys[random() % keys.size()];
    KX_ASSIGN_OR_RETURN(const cache::Ref<T> object, lister.Get(key.namespace_, key.name));
    seen += object->metadata.uid.size();
  }
  line.Add("read_us",
           gets.CpuSeconds() / static_cast<double>(options.reads) * kMicrosecondsPerSecond, 3);

  const Meter listing;
  std::size_t listed = 0;
  while (listed < static_cast<std::size_t>(options.reads)) {
    listed += informer->Keys().size();
  }
  line.Add("key_us", listing.CpuSeconds() / static_cast<double>(listed) * kMicrosecondsPerSecond,
           3);

  if (options.index) {
    const Meter queries;
    std::size_t found = 0;
    std::uint64_t asked = 0;
    for (; found < static_cast<std::size_t>(options.reads); ++asked) {
      const std::string& name = keys[random() % keys.size()].name;
      found += informer->KeysByIndex(kIndex, SuffixTerms({.key = {{}, name}})[0].second).size();
    }
    line.Add("index_us", queries.CpuSeconds() / static_cast<double>(found) * kMicrosecondsPerSecond,
             3);
    line.Add("index_keys_per_query", found / asked);
  }
  return seen > 0 ? Result<void>{} : Fail(Reason::kInternalError, "the lister read nothing");
}

template <class T>
Result<void> SyncOf(const Options& options) {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, Connect(options));
  const Meter meter;
  informers::SharedInformerFactory factory(client, FactoryOptionsOf(options));
  const auto informer = factory.InformerFor<T>({.use_watch_list = options.watch_list});
  if (options.index) {
    informer->AddIndexer(SuffixTerms);
  }
  Seen seen;
  const base::Subscription handler = AddHandler(options, *informer, seen);
  factory.Start();
  AwaitSync(factory, *informer, options.handler == "none" ? "" : kHandler);

  Line line("sync");
  line.Add("objects", std::uint64_t{informer->Size()}).Add("wall_s", meter.WallSeconds(), 3);
  line.Add("cpu_s", CpuSeconds(), 3).Add("rss_mb", ResidentMb(), 1).Add("peak_mb", PeakMb(), 1);
  line.Add("store_mb", static_cast<double>(informer->StoreBytes()) / (1 << 20), 1);
  line.Add("handled", seen.objects.load());
  if (options.check > 0 || options.reads > 0) {
    const std::vector<ObjectKey> keys = informer->Keys();
    KX_RETURN_IF_ERROR(CheckObjects(options, *informer, keys));
    line.Add("checked", static_cast<std::uint64_t>(keys.empty() ? 0 : options.check));
    if (options.reads > 0 && !keys.empty()) {
      KX_RETURN_IF_ERROR(Reads<T>(options, factory, keys, line));
    }
  }
  line.Print();
  factory.Shutdown();
  return {};
}

}  // namespace

Result<void> Sync(const Options& options) {
  return WithResource(options, [&options]<class T>() { return SyncOf<T>(options); });
}

}  // namespace kubexx::bench
