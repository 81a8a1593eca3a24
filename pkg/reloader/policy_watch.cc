#include "kubexx/reloader/policy_watch.h"

#include <atomic>
#include <utility>

#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using reloadpolicy::Policy;

/// What does not change by trying again soon.
bool IsRefusal(const apimachinery::Status& status) {
  return status.reason == Reason::kNotFound || status.reason == Reason::kForbidden ||
         status.reason == Reason::kUnauthorized;
}

cache::InformerOptions OptionsFor(const apimachinery::ResourceInfo& resource,
                                  metrics::Registry* registry) {
  cache::InformerOptions options{.name = std::string(resource.plural), .registry = registry};
  options.group = resource.group;
  options.version = resource.version;
  options.resource = resource.plural;
  // A cluster without the CRDs is asked again now and then, not every few seconds.
  options.tuning.backoff.cap = std::chrono::minutes(2);
  options.on_error =
      [plural = std::string(resource.plural),
       said = std::make_shared<std::atomic<bool>>(false)](const apimachinery::Status& status) {
        if (IsRefusal(status) && !said->exchange(true)) {
          logging::Info(status.reason == Reason::kNotFound
                            ? "No reload policies: their CRD is not installed"
                            : "No reload policies: reading them is not permitted",
                        {{"resource", plural + ".kubexx.io"}});
        }
      };
  return options;
}

std::shared_ptr<cache::ListerWatcher> ListWatchOf(const std::shared_ptr<rest::RESTClient>& client,
                                                  const apimachinery::ResourceInfo& resource,
                                                  const std::string& namespace_) {
  return cache::NewListWatchFromClient(client, resource, namespace_,
                                       {.accept = {codec::Encoding::kJson}});
}

template <class T>
std::shared_ptr<cache::SharedInformer<T>> InformerOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::vector<std::string>& namespaces,
    metrics::Registry* registry) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  cache::InformerOptions options = OptionsFor(resource, registry);
  if (namespaces.empty()) {
    return std::make_shared<cache::SharedInformer<T>>(ListWatchOf(client, resource, ""),
                                                      std::move(options));
  }
  std::vector<cache::NamespacedSource> sources;
  for (const std::string& name : namespaces) {
    sources.push_back({name, ListWatchOf(client, resource, name)});
  }
  return std::make_shared<cache::SharedInformer<T>>(std::move(sources), std::move(options));
}

/// Whether the API server says that there is nothing to be read.
template <class T>
bool IsRefused(const std::shared_ptr<rest::RESTClient>& client, const std::stop_token& stop) {
  const auto list = kubernetes::ResourceClient<T>(client, "").List({.limit = 1}, stop);
  return !list && IsRefusal(list.error());
}

template <class T>
cache::HandlerRegistration Connect(cache::SharedInformer<T>& informer, PolicyGate& gate) {
  const auto set = [&gate](const T& object) {
    Policy policy = reloadpolicy::PolicyFrom(object);
    for (const std::string& problem : policy.problems) {
      logging::Error("Part of a policy cannot be read and has no effect",
                     {{"policy", policy.ToString()}, {"error", problem}});
    }
    gate.SetPolicy(std::move(policy));
  };
  cache::EventHandler<T> handler;
  handler.on_add = [set](const cache::Ref<T>& object, bool) { set(*object); };
  handler.on_update = [set](const cache::Ref<T>& old_object, const cache::Ref<T>& object) {
    if (old_object->spec != object->spec ||
        old_object->metadata.generation != object->metadata.generation) {
      set(*object);  // not for what the operator itself writes to the status
    }
  };
  handler.on_delete = [&gate](const cache::Ref<T>& object, bool) {
    gate.RemovePolicy({object->metadata.namespace_, object->metadata.name});
  };
  return informer.AddEventHandler("policies", std::move(handler));
}

}  // namespace

PolicyWatch::PolicyWatch(std::shared_ptr<rest::RESTClient> client, const Options& options)
    : client_(std::move(client)),
      everywhere_(options.namespaces.empty()),
      namespaced_(InformerOf<reloadpolicy::v1alpha1::ReloadPolicy>(client_, options.namespaces,
                                                                   options.registry)),
      of_cluster_(
          InformerOf<reloadpolicy::v1alpha1::ClusterReloadPolicy>(client_, {}, options.registry)) {}

PolicyWatch::~PolicyWatch() { Stop(); }

void PolicyWatch::Start(PolicyGate& gate) {
  handlers_.push_back(Connect(*namespaced_, gate));
  handlers_.push_back(Connect(*of_cluster_, gate));
  namespaced_->Start();
  of_cluster_->Start();
}

void PolicyWatch::Stop() {
  handlers_.clear();
  namespaced_->Stop();
  of_cluster_->Stop();
}

bool PolicyWatch::WaitForSync(const std::stop_token& stop) const {
  // An informer of some namespaces has synced when it is refused; one of all never does.
  const bool none = everywhere_ && IsRefused<reloadpolicy::v1alpha1::ReloadPolicy>(client_, stop);
  const bool none_of_cluster =
      IsRefused<reloadpolicy::v1alpha1::ClusterReloadPolicy>(client_, stop);
  return (none || handlers_[0].WaitForSync(stop)) &&
         (none_of_cluster || handlers_[1].WaitForSync(stop)) && !stop.stop_requested();
}

}  // namespace kubexx::reloader
