#include <condition_variable>
#include <mutex>
#include <optional>

#include "informer.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/cache/typed_event.h"

namespace kubexx::bench {
namespace {

using apimachinery::Result;

/// Counts updates and notes the cost between two of them. Add is called by one thread.
class Counter {
 public:
  Counter(std::int64_t lead, std::int64_t events) : lead_(lead), last_(lead + events) {}

  void Add() {
    if (++seen_ == lead_) {
      meter_.emplace();
    } else if (seen_ == last_) {
      const std::lock_guard lock(mu_);
      wall_ = meter_->WallSeconds();
      cpu_ = meter_->CpuSeconds();
      done_ = true;
      done_changed_.notify_all();
    }
  }

  void AwaitLast() {
    std::unique_lock lock(mu_);
    done_changed_.wait(lock, [this] { return done_; });
  }

  /// After AwaitLast.
  double wall() const { return wall_; }
  double cpu() const { return cpu_; }

 private:
  const std::int64_t lead_;
  const std::int64_t last_;
  std::int64_t seen_ = 0;
  std::optional<Meter> meter_{};
  std::mutex mu_;
  std::condition_variable done_changed_;
  bool done_ = false;
  double wall_ = 0;
  double cpu_ = 0;
};

/// What the handler reads in the fields of both objects, which are not decoded for it.
template <class T>
Result<std::size_t> ReadFields(const cache::RawEvent& event) {
  using Meta = api::meta::v1::ObjectMeta;
  KX_ASSIGN_OR_RETURN(const auto object, cache::FieldsOf<T>(event));
  KX_ASSIGN_OR_RETURN(const auto old_object, cache::OldFieldsOf<T>(event));
  KX_ASSIGN_OR_RETURN(const auto version, object.Text(&T::metadata, &Meta::resource_version));
  KX_ASSIGN_OR_RETURN(const auto old, old_object.Text(&T::metadata, &Meta::resource_version));
  KX_ASSIGN_OR_RETURN(const auto app, object.Entry("app", &T::metadata, &Meta::labels));
  KX_ASSIGN_OR_RETURN(const auto checksum,
                      old_object.Entry("checksum/config", &T::metadata, &Meta::annotations));
  return version == old ? 0 : 1 + app.value_or("").size() + checksum.value_or("").size();
}

/// Reads both states of every update, or only what every event has: then they are decoded when, and
/// if, somebody asks.
template <class T>
base::Subscription AddHandler(const Options& options, cache::SharedInformer<T>& informer,
                              Counter& counter, std::size_t& read) {
  // None may be merged with another: they are what is counted.
  const cache::HandlerOptions every_event{.overflow = cache::Overflow::kHoldBack};
  if (options.handler == "key") {
    const auto on_event = [&counter, &read](const cache::RawEvent& event) {
      if (event.type == cache::RawEvent::Type::kUpdate) {
        read += event.key().name.size() + event.resource_version().size();
        counter.Add();
      }
    };
    return informer.AddRawHandler(kHandler, on_event, every_event);
  }
  if (options.handler == "fields") {
    const auto on_event = [&counter, &read](const cache::RawEvent& event) {
      if (event.type == cache::RawEvent::Type::kUpdate) {
        read += ReadFields<T>(event).value_or(0);
        counter.Add();
      }
    };
    return informer.AddRawHandler(kHandler, on_event, every_event);
  }
  const auto on_update = [&counter, &read](const cache::Ref<T>& old_object,
                                           const cache::Ref<T>& object) {
    if (old_object->metadata.resource_version != object->metadata.resource_version) {
      read += old_object->metadata.annotations.size() + object->metadata.labels.size();
    }
    counter.Add();
  };
  return informer.AddEventHandler(kHandler, {.on_update = on_update}, every_event);
}

template <class T>
Result<void> WatchOf(const Options& options) {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, Connect(options));
  informers::SharedInformerFactory factory(client, FactoryOptionsOf(options));
  const auto informer = factory.InformerFor<T>({.use_watch_list = options.watch_list});
  Counter counter(options.lead, options.events);
  std::size_t read = 0;
  const base::Subscription handler = AddHandler(options, *informer, counter, read);
  factory.Start();
  AwaitSync(factory, *informer, kHandler);
  counter.AwaitLast();

  const auto events = static_cast<double>(options.events);
  Line line("watch");
  line.Add("objects", std::uint64_t{informer->Size()});
  line.Add("events", static_cast<std::uint64_t>(options.events));
  line.Add("wall_s", counter.wall(), 3).Add("cpu_s", counter.cpu(), 3);
  line.Add("events_per_s", events / counter.wall(), 0);
  line.Add("events_per_cpu_s", events / counter.cpu(), 0);
  line.Add("cpu_us_per_event", counter.cpu() / events * kMicrosecondsPerSecond, 3);
  line.Add("rss_mb", ResidentMb(), 1).Add("peak_mb", PeakMb(), 1);
  factory.Shutdown();
  if (read == 0) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError, "no update had two versions");
  }
  line.Print();
  return {};
}

}  // namespace

Result<void> Watch(const Options& options) {
  return WithResource(options, [&options]<class T>() { return WatchOf<T>(options); });
}

}  // namespace kubexx::bench
