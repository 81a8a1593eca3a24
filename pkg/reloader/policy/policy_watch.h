/// @file
/// Passes reload policies from the API server to an enforcer.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_WATCH_H_
#define KUBEXX_RELOADER_POLICY_POLICY_WATCH_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/permissions/policy_access.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::cache {
template <class T>
class SharedInformer;
}
namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Watches ReloadPolicies and ClusterReloadPolicies. If their CRDs are not installed, there are no
/// policies. If the operator may not read them for some time (see PolicyAccess), their content is
/// unknown: see UnreadIn. Both cases are logged once and retried with backoff, and end with the
/// first list that succeeds. Thread-safe.
class PolicyWatch {
 public:
  using Namespaced = cache::SharedInformer<reloadpolicy::v1alpha1::ReloadPolicy>;
  using OfCluster = cache::SharedInformer<reloadpolicy::v1alpha1::ClusterReloadPolicy>;

  struct Options {
    /// The namespaces in which to watch ReloadPolicies; empty: all.
    std::vector<std::string> namespaces{};
    metrics::Registry* registry = nullptr;
    /// Matters only if `namespaces` is not empty. True: ClusterReloadPolicies are needed. False:
    /// they count if the operator may read them, and otherwise count as not existing, because most
    /// operators of some namespaces lack that right.
    bool cluster_needed = false;
    /// Informed when the operator may not read policies that it needs; must outlive this object.
    /// Null: only the log tells.
    Refusals* refusals = nullptr;
    /// Knows which APIs the server has. Null: the watch makes one for itself.
    std::shared_ptr<ServedApis> served{};
    /// See cache::InformerOptions::executor.
    std::shared_ptr<base::Executor> executor{};
    /// Called when the answer of UnreadIn may have changed for a namespace, or for all when it is
    /// empty, on the threads of informers. Must not block. Empty: unreadable policies are not
    /// logged either.
    std::function<void(const std::string& namespace_)> on_change{};
    /// See PolicyAccess::Options.
    base::Duration patience = std::chrono::seconds(10);
  };

  /// Makes no request yet.
  PolicyWatch(const std::shared_ptr<rest::RESTClient>& client, const Options& options);
  /// Stops.
  ~PolicyWatch();
  PolicyWatch(const PolicyWatch&) = delete;
  PolicyWatch& operator=(const PolicyWatch&) = delete;

  /// Starts to watch, and passes every change to `enforcer`, which must outlive this object. Call
  /// it once only.
  void Start(PolicyEnforcer& enforcer);
  void Stop();
  /// Blocks until the enforcer knows all policies that can be read. Returns false when `stop` was
  /// requested first. Call it after Start.
  bool WaitForSync(const std::stop_token& stop) const;

  /// The types of policies of which some could not be read at the last attempt, such as
  /// "ReloadPolicies".
  std::vector<std::string> Unread() const;
  /// A sentence that says why nothing may be rolled in a namespace: which policies the operator
  /// needs but may not read, and which rights to grant. Returns std::nullopt when the enforcer
  /// knows all policies. Call it after Start.
  std::optional<std::string> UnreadIn(const std::string& namespace_);
  /// The sentences of UnreadIn for all namespaces that have one; the key "" stands for all
  /// namespaces.
  std::map<std::string, std::string> AllUnread();

  /// What the statuses of the policies say the workload waits for, and that it has failed in a wave
  /// and what has come of a restore; one sentence for each.
  std::vector<std::string> Reported(const WorkloadId& id) const;

  const Namespaced& namespaced() const { return *namespaced_; }
  const OfCluster& of_cluster() const { return *of_cluster_; }

 private:
  /// The policies that the enforcer knows: for each id, which state of the policy.
  class Told;

  template <class T>
  std::optional<std::string> GapIn(PolicyAccess& access, const cache::SharedInformer<T>& informer,
                                   const Told& told, const std::string& namespace_);
  void OnAccess(std::string_view types, const std::string& namespace_, bool is_refused) const;

  const Options options_;
  const bool everywhere_;
  const std::shared_ptr<ServedApis> served_;
  PolicyAccess namespaced_access_;
  PolicyAccess of_cluster_access_;
  /// Requested by the first list or watch whose refusal counts.
  std::stop_source namespaced_refused_;
  std::stop_source of_cluster_refused_;
  std::shared_ptr<Namespaced> namespaced_;
  std::shared_ptr<OfCluster> of_cluster_;
  const std::shared_ptr<Told> told_namespaced_;
  const std::shared_ptr<Told> told_of_cluster_;
  std::vector<cache::HandlerRegistration> handlers_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_WATCH_H_
