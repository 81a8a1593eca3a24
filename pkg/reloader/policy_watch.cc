#include "kubexx/reloader/policy_watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/kubernetes_io.h"
#include "kubexx/reloader/policy_status.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using reloadpolicy::Policy;
using reloadpolicy::v1alpha1::ClusterReloadPolicy;
using reloadpolicy::v1alpha1::ReloadPolicy;

/// What does not change by trying again soon.
bool IsUnavailable(const apimachinery::Status& status) {
  return status.reason == Reason::kNotFound || status.reason == Reason::kForbidden ||
         status.reason == Reason::kUnauthorized;
}

PolicyAccess::Options AccessOptions(const std::shared_ptr<rest::RESTClient>& client,
                                    const apimachinery::ResourceInfo& resource,
                                    base::Duration patience) {
  return {.patience = patience,
          .is_served = [client, resource](const std::stop_token& stop) -> std::optional<bool> {
            const auto served = IsServed(client, resource, stop);
            return served ? std::optional(*served) : std::nullopt;
          }};
}

/// An operator that watches only some namespaces may not read ClusterReloadPolicies, unless it was
/// granted that: it does not wait long for a right that it most likely has not.
base::Duration PatienceForCluster(const PolicyWatch::Options& options) {
  return options.namespaces.empty()
             ? options.patience
             : std::min<base::Duration>(options.patience, std::chrono::seconds(2));
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
    if (!IsUnavailable(status)) {
      cache::LogWatchError(plural, status);
    } else if (!refused.request_stop()) {
      return;  // not the first time
    } else if (status.reason == Reason::kNotFound) {
      logging::Info("No reload policies: their CRD is not installed",
                    {{"resource", plural + ".kubexx.io"}});
    } else {
      logging::Warning("Reload policies may not be read: rollouts begin without them",
                       {{"resource", plural + ".kubexx.io"}, {"error", status}});
    }
  };
  return options;
}

std::shared_ptr<cache::ListerWatcher> ListWatchOf(const std::shared_ptr<rest::RESTClient>& client,
                                                  const apimachinery::ResourceInfo& resource,
                                                  const std::string& namespace_, Refusals* refusals,
                                                  PolicyAccess& access) {
  auto source = cache::NewListWatchFromClient(client, resource, namespace_,
                                              {.accept = {codec::Encoding::kJson}});
  if (refusals != nullptr) {
    source = refusals->Follow(std::move(source), std::string(resource.plural), namespace_,
                              Refusals::Need::kWanted);
  }
  return access.Follow(std::move(source));
}

template <class T>
std::shared_ptr<cache::SharedInformer<T>> InformerOf(
    const std::shared_ptr<rest::RESTClient>& client, const PolicyWatch::Options& settings,
    PolicyAccess& access, std::stop_source refused) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  cache::InformerOptions options = OptionsFor(resource, settings.registry, std::move(refused));
  if (settings.namespaces.empty()) {
    return std::make_shared<cache::SharedInformer<T>>(
        ListWatchOf(client, resource, "", settings.refusals, access), std::move(options));
  }
  std::vector<cache::NamespacedSource> sources;
  for (const std::string& name : settings.namespaces) {
    sources.push_back({name, ListWatchOf(client, resource, name, settings.refusals, access)});
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
  const auto set = [&gate](const T& object, bool is_first) {
    Policy policy = reloadpolicy::PolicyFrom(object);
    for (const std::string& problem : policy.problems) {
      logging::Error("Part of a policy cannot be read",
                     {{"policy", policy.ToString()}, {"error", problem}});
    }
    // Later the gate knows better than the status that is written from it.
    const bool remembers = is_first && object.status;
    gate.SetPolicy(std::move(policy), remembers
                                          ? FailuresIn(*object.status, object.metadata.namespace_)
                                          : std::vector<reloadpolicy::Remembered>());
  };
  cache::EventHandler<T> handler;
  handler.on_add = [set](const cache::Ref<T>& object, bool) { set(*object, true); };
  handler.on_update = [set](const cache::Ref<T>& old_object, const cache::Ref<T>& object) {
    if (old_object->spec != object->spec ||
        old_object->metadata.generation != object->metadata.generation) {
      set(*object, false);  // not for what the operator itself writes to the status
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
      namespaced_access_(AccessOptions(client, api::ResourceOf<ReloadPolicy>(), options.patience)),
      of_cluster_access_(AccessOptions(client, api::ResourceOf<ClusterReloadPolicy>(),
                                       PatienceForCluster(options))),
      namespaced_(
          InformerOf<ReloadPolicy>(client, options, namespaced_access_, namespaced_refused_)),
      of_cluster_(InformerOf<ClusterReloadPolicy>(
          client,
          {.registry = options.registry,
           .refusals = options.namespaces.empty() ? options.refusals : nullptr},
          of_cluster_access_, of_cluster_refused_)) {}

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

std::vector<std::string> PolicyWatch::Unread() const {
  std::vector<std::string> types;
  if (namespaced_access_.unread()) {
    types.emplace_back("ReloadPolicies");
  }
  if (of_cluster_access_.unread()) {
    types.emplace_back("ClusterReloadPolicies");
  }
  return types;
}

bool PolicyWatch::WaitForSync(const std::stop_token& stop) const {
  // An informer of some namespaces has synced when it is refused; one of all never does.
  const std::stop_token refused = everywhere_ ? namespaced_refused_.get_token() : std::stop_token();
  return Wait(handlers_[0], refused, stop) &&
         Wait(handlers_[1], of_cluster_refused_.get_token(), stop);
}

}  // namespace kubexx::reloader
