#include "kubexx/reloader/policy_watch.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using reloadpolicy::Policy;
using reloadpolicy::PolicyId;

template <class T>
std::shared_ptr<cache::SharedInformer<T>> InformerOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::vector<std::string>& namespaces,
    metrics::Registry* registry) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  std::vector<cache::NamespacedSource> sources;
  for (const std::string& name : namespaces) {
    sources.push_back({name, cache::NewListWatchFromClient(client, resource, name,
                                                           {.accept = {codec::Encoding::kJson}})});
  }
  cache::InformerOptions options{.name = std::string(resource.plural), .registry = registry};
  options.group = resource.group;
  options.version = resource.version;
  options.resource = resource.plural;
  // A cluster without the CRDs is asked again now and then, not every few seconds.
  options.tuning.backoff.cap = std::chrono::minutes(2);
  options.on_error =
      [plural = std::string(resource.plural),
       said = std::make_shared<std::atomic<bool>>(false)](const apimachinery::Status& status) {
        const bool missing = status.reason == Reason::kNotFound;
        if ((missing || status.reason == Reason::kForbidden) && !said->exchange(true)) {
          logging::Info(missing ? "No reload policies: their CRD is not installed"
                                : "No reload policies: reading them is not permitted",
                        {{"resource", plural + ".kubexx.io"}});
        }
      };
  return std::make_shared<cache::SharedInformer<T>>(std::move(sources), std::move(options));
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
    : namespaced_(InformerOf<reloadpolicy::v1alpha1::ReloadPolicy>(
          client, options.namespaces.empty() ? std::vector<std::string>{""} : options.namespaces,
          options.registry)),
      of_cluster_(InformerOf<reloadpolicy::v1alpha1::ClusterReloadPolicy>(client, {""},
                                                                          options.registry)) {}

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
  return std::ranges::all_of(
      handlers_, [&](const cache::HandlerRegistration& each) { return each.WaitForSync(stop); });
}

}  // namespace kubexx::reloader
