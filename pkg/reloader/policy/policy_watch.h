/// @file
/// Brings reload policies from the API server to a gate.
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

#include "kubexx/cache/handler_registration.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/permissions/policy_access.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/policy/policy_gate.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::cache {
template <class T>
class SharedInformer;
}
namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Watches ReloadPolicies and ClusterReloadPolicies. Where their CRDs are not installed there are
/// none. Where they may not be read for a while (see PolicyAccess) nobody knows what they say: see
/// UnreadIn. Either is logged once, tried on with backoff, and ended by the first list that
/// succeeds. Thread-safe.
class PolicyWatch {
 public:
  using Namespaced = cache::SharedInformer<reloadpolicy::v1alpha1::ReloadPolicy>;
  using OfCluster = cache::SharedInformer<reloadpolicy::v1alpha1::ClusterReloadPolicy>;

  struct Options {
    /// Empty: all.
    std::vector<std::string> namespaces{};
    metrics::Registry* registry = nullptr;
    /// With some namespaces only: ClusterReloadPolicies are needed, too. Without it they count
    /// where they may be read, and there are none where they may not; most operators of some
    /// namespaces lack that right.
    bool cluster_needed = false;
    /// Shows where reading what is needed is not permitted; must outlive this. Null: only the log
    /// tells.
    Refusals* refusals = nullptr;
    /// Told when UnreadIn may answer otherwise for a namespace, or for all when it is empty; on the
    /// threads of informers. Must not block. Empty: what may not be read is not logged either.
    std::function<void(const std::string& namespace_)> on_change{};
    /// See PolicyAccess::Options.
    base::Duration patience = std::chrono::seconds(10);
  };

  /// Does not start yet.
  PolicyWatch(const std::shared_ptr<rest::RESTClient>& client, const Options& options);
  /// Stops.
  ~PolicyWatch();
  PolicyWatch(const PolicyWatch&) = delete;
  PolicyWatch& operator=(const PolicyWatch&) = delete;

  /// Starts; every change goes to `gate`, which must outlive this. Once only.
  void Start(PolicyGate& gate);
  void Stop();
  /// Blocks until the gate has been told of all policies that can be read; false when `stop` was
  /// requested first. After Start.
  bool WaitForSync(const std::stop_token& stop) const;

  /// The types of which some could not be read when last tried: "ReloadPolicies", for example.
  std::vector<std::string> Unread() const;
  /// Why nothing may be rolled in a namespace: in a sentence, which policies that are needed may
  /// not be read, and what to grant. Nothing when all are known to the gate. After Start.
  std::optional<std::string> UnreadIn(const std::string& namespace_);
  /// The same for each namespace where it is so, or "" for all.
  std::map<std::string, std::string> AllUnread();

  /// What the statuses of the policies say that a workload waits for, a sentence each.
  std::vector<std::string> Reported(const WorkloadId& id) const;

  const Namespaced& namespaced() const { return *namespaced_; }
  const OfCluster& of_cluster() const { return *of_cluster_; }

 private:
  /// The policies that the gate has been told of: which state of them, by their id.
  class Told;

  template <class T>
  std::optional<std::string> GapIn(PolicyAccess& access, const cache::SharedInformer<T>& informer,
                                   const Told& told, const std::string& namespace_);
  void OnAccess(std::string_view types, const std::string& namespace_, bool is_refused) const;

  const Options options_;
  const bool everywhere_;
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
