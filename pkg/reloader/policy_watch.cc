#include "kubexx/reloader/policy_watch.h"

#include <utility>

#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using reloadpolicy::Policy;

/// What does not change by trying again soon.
bool IsRefusal(const apimachinery::Status& status) {
  return status.reason == Reason::kNotFound || status.reason == Reason::kForbidden;
}

cache::InformerOptions OptionsFor(const apimachinery::ResourceInfo& resource,
                                  metrics::Registry* registry, std::stop_source refused) {
  cache::InformerOptions options{.name = std::string(resource.plural), .registry = registry};
  options.group = resource.group;
  options.version = resource.version;
  options.resource = resource.plural;
  // A cluster without the CRDs is asked again now and then, not every few seconds.
  options.tuning.backoff.cap = std::chrono::minutes(2);
  options.on_error = [plural = std::string(resource.plural),
                      refused = std::move(refused)](const apimachinery::Status& status) mutable {
    if (!IsRefusal(status)) {
      cache::LogWatchError(plural, status);
    } else if (refused.request_stop()) {  // the first time
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
                                                  const std::string& namespace_,
                                                  Refusals* refusals) {
  auto source = cache::NewListWatchFromClient(client, resource, namespace_,
                                              {.accept = {codec::Encoding::kJson}});
  return refusals == nullptr ? source
                             : refusals->Follow(std::move(source), std::string(resource.plural),
                                                namespace_, Refusals::Need::kWanted);
}

template <class T>
std::shared_ptr<cache::SharedInformer<T>> InformerOf(
    const std::shared_ptr<rest::RESTClient>& client, const PolicyWatch::Options& settings,
    std::stop_source refused) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  cache::InformerOptions options = OptionsFor(resource, settings.registry, std::move(refused));
  if (settings.namespaces.empty()) {
    return std::make_shared<cache::SharedInformer<T>>(
        ListWatchOf(client, resource, "", settings.refusals), std::move(options));
  }
  std::vector<cache::NamespacedSource> sources;
  for (const std::string& name : settings.namespaces) {
    sources.push_back({name, ListWatchOf(client, resource, name, settings.refusals)});
  }
  return std::make_shared<cache::SharedInformer<T>>(std::move(sources), std::move(options));
}

/// Blocks until the handler has been given every policy, or `refused` says that there is nothing to
/// wait for.
bool Wait(const cache::HandlerRegistration& handler, const std::stop_token& refused,
          const std::stop_token& stop) {
  std::stop_source enough;
  const auto end = [&enough] { enough.request_stop(); };
  const std::stop_callback on_refusal(refused, end);
  const std::stop_callback on_stop(stop, end);
  return handler.WaitForSync(enough.get_token()) ||
         (refused.stop_requested() && !stop.stop_requested());
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

PolicyWatch::PolicyWatch(const std::shared_ptr<rest::RESTClient>& client, const Options& options)
    : everywhere_(options.namespaces.empty()),
      namespaced_(
          InformerOf<reloadpolicy::v1alpha1::ReloadPolicy>(client, options, namespaced_refused_)),
      of_cluster_(InformerOf<reloadpolicy::v1alpha1::ClusterReloadPolicy>(
          client,
          {.registry = options.registry,
           .refusals = options.namespaces.empty() ? options.refusals : nullptr},
          of_cluster_refused_)) {}

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
  const std::stop_token refused = everywhere_ ? namespaced_refused_.get_token() : std::stop_token();
  return Wait(handlers_[0], refused, stop) &&
         Wait(handlers_[1], of_cluster_refused_.get_token(), stop);
}

}  // namespace kubexx::reloader
