#include "kubexx/reloader/policy/policy_watch.h"

#include <algorithm>
#include <chrono>
#include <compare>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/apimachinery/resource_version.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/policy/policy_status.h"
#include "kubexx/reloader/restore/restore_standing.h"
#include "kubexx/reloader/watch/watch_errors.h"
#include "kubexx/reloadpolicy/failed_data.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

constexpr char kNamespacedPolicies[] = "ReloadPolicies";
constexpr char kClusterPolicies[] = "ClusterReloadPolicies";
constexpr char kPolicyRights[] =
    "list and watch of reloadpolicies.kubexx.io, clusterreloadpolicies.kubexx.io";

using apimachinery::Reason;
using reloadpolicy::Policy;
using reloadpolicy::v1alpha1::ClusterReloadPolicy;
using reloadpolicy::v1alpha1::ReloadPolicy;

template <class T>
void AddReported(const cache::SharedInformer<T>& informer, const std::string& namespace_,
                 const std::string& workload, const std::string& kind,
                 std::vector<std::string>& to) {
  for (const apimachinery::ObjectKey& key : informer.Keys()) {
    if (key.namespace_ != namespace_) {
      continue;  // it names other workloads, which may have the same name
    }
    const auto policy = informer.Get(key);
    if (!policy || !(*policy)->status) {
      continue;
    }
    for (const auto& waiting : apimachinery::OrEmpty((*policy)->status->pending_rollouts)) {
      if (waiting.workload == workload) {
        to.push_back(kind + key.ToString() + ": " + waiting.reason + ": " +
                     waiting.message.value_or(""));
      }
    }
    bool has_failed = false;
    for (const auto& failed : apimachinery::OrEmpty((*policy)->status->failed_waves)) {
      if (failed.workload == workload) {
        has_failed = true;
        to.push_back(kind + key.ToString() + ": it has failed in a wave since " +
                     failed.since.ToString() + " for " + reloadpolicy::SourcesOf(failed.data) +
                     ", and no other rollout begins for these data");
      }
    }
    const auto* restored = controller::FindCondition((*policy)->status->conditions, "Restored");
    if (has_failed && restored != nullptr && restored->reason != kNothingToRestore) {
      to.push_back(kind + key.ToString() + ": " + restored->reason + ": " + restored->message);
    }
  }
}

/// Whether the error stays the same when the request is repeated soon.
bool IsUnavailable(const apimachinery::Status& status) {
  return status.reason == Reason::kNotFound || status.reason == Reason::kForbidden ||
         status.reason == Reason::kUnauthorized;
}

PolicyAccess::Options AccessOptions(
    const std::shared_ptr<ServedApis>& apis, const apimachinery::ResourceInfo& resource,
    base::Duration patience, std::function<void(const std::string&, bool is_refused)> on_change) {
  return {.resource = std::string(resource.plural) + "." + std::string(resource.group),
          .patience = patience,
          .is_served = [apis, resource](bool is_awaited,
                                        const std::stop_token& stop) -> std::optional<bool> {
            const auto served =
                apis->Has(resource, is_awaited ? ServedApis::kSoon : ServedApis::kNow, stop);
            return served ? std::optional(*served) : std::nullopt;
          },
          .is_certain =
              [apis, resource](const std::stop_token& stop) {
                return apis->LacksGroup(resource, ServedApis::kNow, stop);
              },
          .on_change = std::move(on_change)};
}

bool NeedsCluster(const PolicyWatch::Options& options) {
  return options.namespaces.empty() || options.cluster_needed;
}

/// An operator that watches only some namespaces does not wait long for a right that it most likely
/// does not have.
base::Duration PatienceForCluster(const PolicyWatch::Options& options) {
  return NeedsCluster(options)
             ? options.patience
             : std::min<base::Duration>(options.patience, std::chrono::seconds(2));
}

/// The longest time between two attempts: policies that may not be read hold rollouts back, those
/// that were installed a moment ago do not yet, and each of many namespaces asks for itself.
base::Duration PauseFor(const PolicyWatch::Options& options) {
  return options.namespaces.size() > 20 ? std::chrono::minutes(2) : std::chrono::seconds(5);
}

cache::InformerOptions OptionsFor(const apimachinery::ResourceInfo& resource,
                                  metrics::Registry* registry, base::Duration pause,
                                  std::stop_source refused) {
  cache::InformerOptions options{.name = std::string(resource.plural), .registry = registry};
  options.group = resource.group;
  options.version = resource.version;
  options.resource = resource.plural;
  options.tuning.backoff.cap = pause;
  options.use_watch_list = false;  // see PolicyAccess::Follow
  options.on_error = [plural = std::string(resource.plural),
                      errors = std::make_shared<WatchErrors>(std::string(resource.plural)),
                      refused = std::move(refused)](const apimachinery::Status& status) mutable {
    if (PolicyAccess::WantsList(status)) {
      return;
    }
    if (PolicyAccess::SeemsUnserved(status)) {
      logging::Debug("The API server seems not to serve reload policies",
                     {{"resource", plural}, {"error", status}});
    } else if (!IsUnavailable(status)) {
      errors->Log(status);
    } else if (!refused.request_stop()) {
      return;  // not the first call
    } else if (status.reason == Reason::kNotFound) {
      logging::Info("The CRD of reload policies is not installed; the operator works without them",
                    {{"resource", plural + ".kubexx.io"}});
    }
  };
  return options;
}

std::shared_ptr<cache::ListerWatcher> ListWatchOf(const std::shared_ptr<rest::RESTClient>& client,
                                                  const apimachinery::ResourceInfo& resource,
                                                  const std::string& namespace_, Refusals* refusals,
                                                  PolicyAccess& access) {
  auto list_watch =
      access.Follow(cache::NewListWatchFromClient(client, resource, namespace_,
                                                  {.accept = {codec::Encoding::kJson}}),
                    namespace_);
  return refusals == nullptr ? list_watch
                             : refusals->Follow(std::move(list_watch), std::string(resource.plural),
                                                namespace_, Refusals::Need::kBrake);
}

template <class T>
std::shared_ptr<cache::SharedInformer<T>> InformerOf(
    const std::shared_ptr<rest::RESTClient>& client, const PolicyWatch::Options& settings,
    PolicyAccess& access, std::stop_source refused) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  cache::InformerOptions options =
      OptionsFor(resource, settings.registry, PauseFor(settings), std::move(refused));
  options.executor = settings.executor;
  if (settings.namespaces.empty()) {
    return std::make_shared<cache::SharedInformer<T>>(
        ListWatchOf(client, resource, "", settings.refusals, access), std::move(options));
  }
  std::vector<cache::NamespacedSource> list_watches;
  for (const std::string& name : settings.namespaces) {
    list_watches.push_back({name, ListWatchOf(client, resource, name, settings.refusals, access)});
  }
  return std::make_shared<cache::SharedInformer<T>>(std::move(list_watches), std::move(options));
}

/// Blocks until the handler has been given every policy, or until `refused` says that there is
/// nothing to wait for.
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
apimachinery::ObjectKey PolicyKeyOf(const T& object) {
  return {object.metadata.namespace_, object.metadata.name};
}

/// The version of a policy, which each change of its spec changes.
template <class T>
std::string PolicyStateOf(const T& object) {
  return object.metadata.uid + "/" + std::to_string(object.metadata.generation);
}

}  // namespace

class PolicyWatch::Told {
 public:
  void Put(const apimachinery::ObjectKey& key, std::string state) {
    const base::MutexLock lock(mu_);
    states_.insert_or_assign(key, std::move(state));
  }
  void Erase(const apimachinery::ObjectKey& key) {
    const base::MutexLock lock(mu_);
    states_.erase(key);
  }
  bool Has(const apimachinery::ObjectKey& key, const std::string& state) const {
    const base::MutexLock lock(mu_);
    const auto found = states_.find(key);
    return found != states_.end() && found->second == state;
  }

 private:
  mutable base::Mutex mu_;
  std::map<apimachinery::ObjectKey, std::string> states_ KX_GUARDED_BY(mu_);
};

namespace {

/// `on_told` gets each policy that the enforcer has got, and `on_gone` each policy that the
/// enforcer has lost.
template <class T>
cache::HandlerRegistration Connect(cache::SharedInformer<T>& informer, PolicyEnforcer& enforcer,
                                   const std::function<void(const T&)>& on_told,
                                   std::function<void(const T&)> on_gone) {
  const auto set = [&enforcer, on_told](const T& object, bool is_first) {
    Policy policy = reloadpolicy::PolicyFrom(object);
    for (const std::string& kind : policy.kinds) {
      if (!ParseWorkloadKind(kind)) {
        policy.problems.push_back("spec.workloads.kinds: the operator has no kind " + kind +
                                  ", and --workload-kinds names none");
      }
    }
    for (const std::string& problem : policy.problems) {
      logging::Error("Cannot read a part of a policy",
                     {{"policy", policy.ToString()}, {"error", problem}});
    }
    // Later on, the enforcer knows more than the status, which is written from what it knows.
    const bool remembers = is_first && object.status;
    enforcer.SetPolicy(std::move(policy),
                       remembers ? FailuresIn(*object.status, object.metadata.namespace_)
                                 : std::vector<reloadpolicy::Remembered>(),
                       remembers ? FailedDataIn(*object.status, object.metadata.namespace_)
                                 : std::vector<reloadpolicy::RememberedData>());
    on_told(object);
  };
  cache::EventHandler<T> handler;
  handler.on_add = [set](const cache::Ref<T>& object, bool) { set(*object, true); };
  handler.on_update = [set, on_told](const cache::Ref<T>& old_object, const cache::Ref<T>& object) {
    if (old_object->spec != object->spec ||
        old_object->metadata.generation != object->metadata.generation) {
      set(*object, false);
    } else {
      on_told(*object);  // only the status has changed, which the operator writes itself
    }
  };
  handler.on_delete = [&enforcer, on_gone = std::move(on_gone)](const cache::Ref<T>& object, bool) {
    enforcer.RemovePolicy({object->metadata.namespace_, object->metadata.name});
    on_gone(*object);
  };
  return informer.AddEventHandler("policies", std::move(handler));
}

}  // namespace

PolicyWatch::PolicyWatch(const std::shared_ptr<rest::RESTClient>& client, const Options& options)
    : options_(options),
      everywhere_(options.namespaces.empty()),
      served_(options.served ? options.served : std::make_shared<ServedApis>(client)),
      namespaced_access_(AccessOptions(served_, api::ResourceOf<ReloadPolicy>(), options.patience,
                                       [this](const std::string& name, bool is_refused) {
                                         OnAccess(kNamespacedPolicies, name, is_refused);
                                       })),
      of_cluster_access_(AccessOptions(served_, api::ResourceOf<ClusterReloadPolicy>(),
                                       PatienceForCluster(options),
                                       [this](const std::string& name, bool is_refused) {
                                         OnAccess(kClusterPolicies, name, is_refused);
                                       })),
      namespaced_(
          InformerOf<ReloadPolicy>(client, options, namespaced_access_, namespaced_refused_)),
      of_cluster_(InformerOf<ClusterReloadPolicy>(
          client,
          {.registry = options.registry,
           .refusals = NeedsCluster(options) ? options.refusals : nullptr,
           .executor = options.executor},
          of_cluster_access_, of_cluster_refused_)),
      told_namespaced_(std::make_shared<Told>()),
      told_of_cluster_(std::make_shared<Told>()) {}

PolicyWatch::~PolicyWatch() { Stop(); }

void PolicyWatch::Start(PolicyEnforcer& enforcer) {
  const auto connect = [&]<class T>(cache::SharedInformer<T>& informer,
                                    const std::shared_ptr<Told>& told) {
    handlers_.push_back(Connect<T>(
        informer, enforcer,
        [told](const T& object) { told->Put(PolicyKeyOf(object), PolicyStateOf(object)); },
        [told](const T& object) { told->Erase(PolicyKeyOf(object)); }));
  };
  connect(*namespaced_, told_namespaced_);
  connect(*of_cluster_, told_of_cluster_);
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
    types.emplace_back(kNamespacedPolicies);
  }
  if (of_cluster_access_.unread()) {
    types.emplace_back(kClusterPolicies);
  }
  return types;
}

std::vector<std::string> PolicyWatch::Reported(const WorkloadId& id) const {
  const std::string kind(KindName(id.kind));
  std::vector<std::string> reported;
  AddReported(*namespaced_, id.key.namespace_, kind + "/" + id.key.name, "ReloadPolicy ", reported);
  AddReported(*of_cluster_, "", kind + "/" + id.key.ToString(), "ClusterReloadPolicy ", reported);
  return reported;
}

void PolicyWatch::OnAccess(std::string_view types, const std::string& namespace_,
                           bool is_refused) const {
  if (!options_.on_change) {
    return;
  }
  const std::string_view where = namespace_.empty() ? "all" : std::string_view(namespace_);
  if (types == kClusterPolicies && !NeedsCluster(options_)) {
    if (is_refused) {
      logging::Info("The operator may not read ClusterReloadPolicies and ignores them");
    }
    return;
  }
  if (is_refused) {
    logging::Warning(
        "The operator may not read reload policies, so it rolls nothing that they may hold back",
        {{"policies", types}, {"namespace", where}, {"grant", kPolicyRights}});
  } else {
    logging::Info("The operator can read reload policies again",
                  {{"policies", types}, {"namespace", where}});
  }
  options_.on_change(namespace_);
}

template <class T>
std::optional<std::string> PolicyWatch::GapIn(PolicyAccess& access,
                                              const cache::SharedInformer<T>& informer,
                                              const Told& told, const std::string& namespace_) {
  const auto gap = access.GapIn(namespace_);
  if (!gap) {
    return std::nullopt;
  }
  const auto is_known = [&] {
    const std::string version = informer.LastSyncResourceVersion(namespace_);
    return !gap->listed.empty() && !version.empty() &&
           apimachinery::CompareResourceVersions(version, gap->listed) !=
               std::strong_ordering::less &&
           std::ranges::all_of(informer.Keys(), [&](const apimachinery::ObjectKey& key) {
             const auto policy = informer.Get(key);
             return !policy || told.Has(key, PolicyStateOf(**policy));
           });
  };
  if (is_known()) {
    access.Close(namespace_, gap->listed);
    return std::nullopt;
  }
  const std::string plural(api::ResourceOf<T>().plural);
  return std::string(std::is_same_v<T, ReloadPolicy> ? kNamespacedPolicies : kClusterPolicies) +
         (namespace_.empty() ? std::string() : " of the namespace " + namespace_) +
         " may not be read, so the operator does not know what they hold back: grant list and "
         "watch of " +
         plural + ".kubexx.io, or turn policies off (--reload-policies=false)";
}

std::optional<std::string> PolicyWatch::UnreadIn(const std::string& namespace_) {
  for (const std::string& name : {std::string(), namespace_}) {
    if (auto why = GapIn(namespaced_access_, *namespaced_, *told_namespaced_, name)) {
      return why;
    }
  }
  return NeedsCluster(options_) ? GapIn(of_cluster_access_, *of_cluster_, *told_of_cluster_, "")
                                : std::nullopt;
}

std::map<std::string, std::string> PolicyWatch::AllUnread() {
  std::map<std::string, std::string> unread;
  if (auto everywhere = UnreadIn("")) {
    return {{"", *std::move(everywhere)}};
  }
  for (const std::string& name : options_.namespaces) {
    if (auto why = UnreadIn(name)) {
      unread.emplace(name, *std::move(why));
    }
  }
  return unread;
}

bool PolicyWatch::WaitForSync(const std::stop_token& stop) const {
  // An informer of some namespaces has synced when it is refused. An informer of all namespaces
  // never has then.
  const std::stop_token refused = everywhere_ ? namespaced_refused_.get_token() : std::stop_token();
  return Wait(handlers_[0], refused, stop) &&
         Wait(handlers_[1], of_cluster_refused_.get_token(), stop);
}

}  // namespace kubexx::reloader
