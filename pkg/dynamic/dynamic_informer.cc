#include "kubexx/dynamic/dynamic_informer.h"

#include <algorithm>

namespace kubexx::cache {

template <>
apimachinery::Result<UntypedRef> DecodeUntyped<dynamic::Unstructured>(const Object& raw) {
  KX_ASSIGN_OR_RETURN(dynamic::Unstructured object,
                      codec::Decode<dynamic::Unstructured>(raw.encoding, raw.bytes));
  return std::make_shared<const dynamic::Unstructured>(std::move(object));
}

}  // namespace kubexx::cache

namespace kubexx::dynamic {
namespace {

using apimachinery::GroupVersionResource;
using apimachinery::ListOptions;
using apimachinery::Result;
using codec::Encoding;

/// Keeps the names that the list-watch of the client refers to.
class NamedListWatch final : public cache::ListerWatcher {
 public:
  NamedListWatch(std::shared_ptr<rest::RESTClient> client, GroupVersionResource resource,
                 std::string namespace_, cache::ListWatchOptions options)
      : resource_(std::move(resource)),
        inner_(cache::NewListWatchFromClient(std::move(client),
                                             {.group = resource_.group,
                                              .version = resource_.version,
                                              .kind = {},
                                              .plural = resource_.resource,
                                              .namespaced = !namespace_.empty()},
                                             namespace_, std::move(options))) {}

  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    return inner_->List(options, sink, std::move(stop));
  }
  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    return inner_->Watch(options, sink, std::move(stop));
  }
  bool CanStartWatch() const override { return inner_->CanStartWatch(); }
  Result<std::unique_ptr<cache::OpenWatch>> StartWatch(const ListOptions& options,
                                                       std::stop_token stop) override {
    return inner_->StartWatch(options, std::move(stop));
  }

 private:
  const GroupVersionResource resource_;
  const std::shared_ptr<cache::ListerWatcher> inner_;
};

}  // namespace

std::shared_ptr<cache::ListerWatcher> NewDynamicListWatch(std::shared_ptr<rest::RESTClient> client,
                                                          GroupVersionResource resource,
                                                          std::string namespace_,
                                                          cache::ListWatchOptions options) {
  options.accept = {Encoding::kJson};
  options.list_accept_parameters.clear();
  options.watch_accept_parameters.clear();
  options.name_types = true;
  return std::make_shared<NamedListWatch>(std::move(client), std::move(resource),
                                          std::move(namespace_), std::move(options));
}

std::shared_ptr<cache::ListerWatcher> NewMetadataListWatch(std::shared_ptr<rest::RESTClient> client,
                                                           GroupVersionResource resource,
                                                           std::string namespace_,
                                                           cache::ListWatchOptions options) {
  cache::AskForMetadata(options);
  return std::make_shared<NamedListWatch>(std::move(client), std::move(resource),
                                          std::move(namespace_), std::move(options));
}

DynamicFactoryBase::DynamicFactoryBase(std::shared_ptr<rest::RESTClient> client,
                                       DynamicFactoryOptions options, Source source)
    : client_(std::move(client)), options_(std::move(options)), source_(source) {}

DynamicFactoryBase::~DynamicFactoryBase() { Shutdown(); }

DynamicFactoryBase::InformerPtr DynamicFactoryBase::FindOrAdd(const GroupVersionResource& resource,
                                                              cache::InformerOptions options,
                                                              Maker make) {
  {
    const base::MutexLock lock(mu_);
    const auto found = informers_.find(resource);
    if (found != informers_.end()) {
      return found->second;
    }
  }
  cache::ListWatchOptions list_watch = options_.list_watch;
  if (options_.tweak) {
    options_.tweak(resource, list_watch);
  }
  // An InformerOptions refers to its clock and cannot be assigned to.
  cache::InformerOptions complete{
      .name = options.name.empty() ? resource.ToString() : std::move(options.name),
      .clock = options_.clock,
      .registry = options_.registry,
      .transform = std::move(options.transform),
      .resync_period = options.resync_period > base::Duration::zero() ? options.resync_period
                                                                      : options_.resync_period,
      .handler_buffer = options.handler_buffer,
      .use_watch_list = options.use_watch_list,
      .on_error = std::move(options.on_error),
      .seed = options.seed,
      .tuning = options.tuning,
      .executor = options.executor ? std::move(options.executor) : options_.executor,
      .group = options.group.empty() ? resource.group : std::move(options.group),
      .version = options.version.empty() ? resource.version : std::move(options.version),
      .resource = options.resource.empty() ? resource.resource : std::move(options.resource)};
  InformerPtr informer = make(
      source_(client_, resource, options_.namespace_, std::move(list_watch)), std::move(complete));
  // When another thread was faster its informer counts; this one has not begun to run.
  const base::MutexLock lock(mu_);
  return informers_.try_emplace(resource, std::move(informer)).first->second;
}

std::vector<DynamicFactoryBase::InformerPtr> DynamicFactoryBase::All() const {
  const base::MutexLock lock(mu_);
  std::vector<InformerPtr> all;
  for (const auto& [resource, informer] : informers_) {
    all.push_back(informer);
  }
  return all;
}

void DynamicFactoryBase::Start() {
  for (const InformerPtr& informer : All()) {
    informer->Start();
  }
}

bool DynamicFactoryBase::WaitForCacheSync(std::stop_token stop) const {
  return std::ranges::all_of(
      All(), [&stop](const InformerPtr& informer) { return informer->WaitForSync(stop); });
}

void DynamicFactoryBase::Shutdown() {
  (void)cache::StopAll(All());  // or a handler has asked for it, and waits for nothing
}

template <>
DynamicFactory<Unstructured>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                             DynamicFactoryOptions options)
    : DynamicFactoryBase(std::move(client), std::move(options), &NewDynamicListWatch) {}
template <>
DynamicFactory<PartialObjectMetadata>::DynamicFactory(std::shared_ptr<rest::RESTClient> client,
                                                      DynamicFactoryOptions options)
    : DynamicFactoryBase(std::move(client), std::move(options), &NewMetadataListWatch) {}

}  // namespace kubexx::dynamic
