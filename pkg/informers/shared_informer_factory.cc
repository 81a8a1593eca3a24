#include "kubexx/informers/shared_informer_factory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kubexx/base/executor/executor.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::informers {
namespace {

// The result of the user's function for each type. The function is called once per type, however
// often and on whatever threads the result is needed.
struct Tweaked {
  base::Mutex mu;
  std::map<apimachinery::GroupVersionResource, cache::ListWatchOptions> types KX_GUARDED_BY(mu);
};

FactoryOptions Completed(FactoryOptions options) {
  if (!options.executor) {
    options.executor = std::make_shared<base::Executor>();
  }
  if (!options.tweak) {
    return options;
  }
  options.tweak = [tweak = std::move(options.tweak), tweaked = std::make_shared<Tweaked>()](
                      const apimachinery::ResourceInfo& resource,
                      cache::ListWatchOptions& list_watch) {
    const base::MutexLock lock(tweaked->mu);
    const apimachinery::GroupVersionResource type = NameOfType(resource);
    auto found = tweaked->types.find(type);
    if (found == tweaked->types.end()) {
      cache::ListWatchOptions said = list_watch;
      tweak(resource, said);  // when it throws there is no result, and it is called again
      found = tweaked->types.emplace(type, std::move(said)).first;
    }
    list_watch = found->second;
  };
  return options;
}

}  // namespace

SharedInformerFactory::SharedInformerFactory(std::shared_ptr<rest::RESTClient> client,
                                             FactoryOptions options)
    : client_(std::move(client)), options_(Completed(std::move(options))) {}

SharedInformerFactory::~SharedInformerFactory() { Shutdown(); }

std::shared_ptr<cache::SharedInformerBase> SharedInformerFactory::FindUntyped(
    std::type_index type) const {
  base::MutexLock lock(mu_);
  const auto found = std::ranges::find(informers_, type, &decltype(informers_)::value_type::first);
  return found == informers_.end() ? nullptr : found->second;
}

SharedInformerFactory::InformerPtr SharedInformerFactory::FindOrMake(
    std::type_index type, const apimachinery::ResourceInfo& resource,
    const cache::InformerOptions* options, Maker make, Form form) {
  std::vector<InformerPtr> ended;  // it is destroyed without the lock
  base::MutexLock lock(mu_);
  const auto found = std::ranges::find(informers_, type, &decltype(informers_)::value_type::first);
  if (found != informers_.end()) {
    return found->second;
  }
  ended = TakeEndedLocked();
  cache::InformerOptions complete =
      Complete(resource, options == nullptr ? cache::InformerOptions{} : *options);
  if (form == Form::kMetadata) {
    complete.name += "/metadata";  // its metrics differ from those of the informer of whole objects
  }
  InformerPtr informer = make(NewSources(resource, form), std::move(complete));
  AddIndexes(resource, *informer);
  return informers_.emplace_back(type, std::move(informer)).second;
}

const TypeOptions* SharedInformerFactory::OptionsOf(
    const apimachinery::ResourceInfo& resource) const {
  const auto found = options_.by_type.find(NameOfType(resource));
  return found == options_.by_type.end() ? nullptr : &found->second;
}

SharedInformerFactory::Namespaces SharedInformerFactory::NamespacesOf(
    const apimachinery::ResourceInfo& resource) const {
  if (!resource.namespaced) {
    return {};
  }
  const TypeOptions* const own = OptionsOf(resource);
  if (own != nullptr && own->namespaces) {
    Namespaces namespaces{.several = {own->namespaces->begin(), own->namespaces->end()}};
    namespaces.several.erase("");
    return namespaces;
  }
  Namespaces namespaces{.one = options_.namespace_};
  if (!options_.namespaces.empty()) {
    namespaces.several.insert(options_.namespaces.begin(), options_.namespaces.end());
    namespaces.several.insert(std::exchange(namespaces.one, {}));
    namespaces.several.erase("");
  }
  return namespaces;
}

cache::ListWatchOptions SharedInformerFactory::ListWatchOf(
    const apimachinery::ResourceInfo& resource) const {
  cache::ListWatchOptions list_watch = options_.list_watch;
  if (const TypeOptions* const own = OptionsOf(resource)) {
    if (!own->label_selector.empty()) {
      list_watch.label_selector = own->label_selector;
    }
    if (!own->field_selector.empty()) {
      list_watch.field_selector = own->field_selector;
    }
  }
  if (options_.tweak) {
    options_.tweak(resource, list_watch);
  }
  return list_watch;
}

SharedInformerFactory::Scope SharedInformerFactory::ScopeOf(
    const apimachinery::ResourceInfo& resource, std::string_view namespace_) const {
  const Namespaces namespaces = NamespacesOf(resource);
  const bool all = namespaces.one.empty() && namespaces.several.empty();
  if (!all && namespace_ != namespaces.one &&
      !namespaces.several.contains(std::string(namespace_))) {
    return Scope::kNone;
  }
  const cache::ListWatchOptions list_watch = ListWatchOf(resource);
  return list_watch.label_selector.empty() && list_watch.field_selector.empty() ? Scope::kAll
                                                                                : Scope::kSelected;
}

std::shared_ptr<cache::ListerWatcher> SharedInformerFactory::NewSource(
    const apimachinery::ResourceInfo& resource, const std::string& namespace_, Form form) const {
  cache::ListWatchOptions list_watch = ListWatchOf(resource);
  if (form == Form::kMetadata) {
    cache::AskForMetadata(list_watch);
  }
  return cache::NewListWatchFromClient(
      client_, resource, resource.namespaced ? namespace_ : std::string(), std::move(list_watch));
}

cache::InformerSources SharedInformerFactory::NewSources(const apimachinery::ResourceInfo& resource,
                                                         Form form) const {
  const Namespaces namespaces = NamespacesOf(resource);
  if (namespaces.several.empty()) {
    return {.all = NewSource(resource, namespaces.one, form)};
  }
  cache::InformerSources sources;
  for (const std::string& namespace_ : namespaces.several) {
    cache::NamespacedSource& source = sources.namespaces.emplace_back();
    source.namespace_ = namespace_;
    source.lister_watcher = NewSource(resource, namespace_, form);
  }
  return sources;
}

void SharedInformerFactory::AddIndexes(const apimachinery::ResourceInfo& resource,
                                       cache::SharedInformerBase& informer) const {
  const bool one_namespace = !NamespacesOf(resource).one.empty();
  if (options_.index_namespaces && resource.namespaced && !one_namespace) {
    // Cannot fail: there are no other indexers yet.
    (void)informer.AddIndexers(cache::NamespaceIndexer());
  }
}

cache::InformerOptions SharedInformerFactory::Complete(
    const apimachinery::ResourceInfo& resource, const cache::InformerOptions& options) const {
  const TypeOptions* const own = OptionsOf(resource);
  const auto& transform = own != nullptr && own->transform ? own->transform : options_.transform;
  const std::string& own_name = options.name.empty() ? std::string(resource.plural) : options.name;
  return {.name = options_.name.empty() ? own_name : options_.name + "/" + own_name,
          .clock = options_.clock,
          .registry = options_.registry,
          .transform = options.transform ? options.transform : transform,
          .resync_period = options.resync_period > base::Duration::zero() ? options.resync_period
                                                                          : options_.resync_period,
          .handler_buffer = options.handler_buffer,
          .use_watch_list = options.use_watch_list,
          .on_error = options.on_error,
          .seed = options.seed,
          .tuning = options.tuning == cache::WatchTuning{} ? options_.tuning : options.tuning,
          .executor = options.executor ? options.executor : options_.executor,
          .group = std::string(resource.group),
          .version = std::string(resource.version),
          .resource = std::string(resource.plural)};
}

std::vector<SharedInformerFactory::InformerPtr> SharedInformerFactory::All() const {
  base::MutexLock lock(mu_);
  std::vector<InformerPtr> all;
  for (const auto& [type, informer] : informers_) {
    all.push_back(informer);
  }
  return all;
}

void SharedInformerFactory::StopAndRemove(std::type_index type) {
  InformerPtr informer;
  std::vector<InformerPtr> ended;
  {
    base::MutexLock lock(mu_);
    ended = TakeEndedLocked();
    const auto found =
        std::ranges::find(informers_, type, &decltype(informers_)::value_type::first);
    if (found == informers_.end()) {
      return;
    }
    informer = std::move(found->second);
    informers_.erase(found);
    if (informer->OnOwnThread()) {
      removed_.push_back(informer);
    }
  }
  informer->Retire();
}

std::vector<SharedInformerFactory::InformerPtr> SharedInformerFactory::TakeEndedLocked() {
  const auto over = std::ranges::partition(
      removed_, [](const InformerPtr& informer) { return !informer->HasEnded(); });
  std::vector<InformerPtr> ended(std::make_move_iterator(over.begin()),
                                 std::make_move_iterator(over.end()));
  removed_.erase(over.begin(), over.end());
  return ended;
}

std::vector<SharedInformerFactory::InformerPtr> SharedInformerFactory::TakeRemoved() {
  base::MutexLock lock(mu_);
  return std::exchange(removed_, {});
}

void SharedInformerFactory::Start() {
  is_shut_down_ = false;
  for (const InformerPtr& informer : All()) {
    informer->Start();
  }
}

bool SharedInformerFactory::WaitForCacheSync(std::stop_token stop) const {
  return std::ranges::all_of(
      All(), [&stop](const InformerPtr& informer) { return informer->WaitForSync(stop); });
}

std::vector<std::string> SharedInformerFactory::Unsynced() const {
  std::vector<std::string> reasons;
  for (const InformerPtr& informer : All()) {
    if (!informer->HasSynced()) {
      reasons.push_back(informer->SyncError().error().message);
    }
  }
  return reasons;
}

void SharedInformerFactory::Shutdown() {
  is_shut_down_ = true;
  std::vector<InformerPtr> all = All();
  {
    base::MutexLock lock(mu_);
    all.insert(all.end(), removed_.begin(), removed_.end());
  }
  if (!cache::StopAll(all)) {
    return;
  }
  for (const InformerPtr& informer : TakeRemoved()) {
    informer->Stop();
  }
}

}  // namespace kubexx::informers
