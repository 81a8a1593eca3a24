/// @file
/// The configured admission webhooks.
#ifndef KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_WEBHOOKS_H_
#define KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_WEBHOOKS_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/caller.h"
#include "kubexx/apiserver/admission/dispatcher.h"
#include "kubexx/apiserver/admission/helper_threads.h"
#include "kubexx/apiserver/admission/webhook.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Follows the stored webhook configurations, and finds the namespaces and Services that calls of
/// webhooks need. Thread-safe.
class Webhooks final : public admission::Cluster {
 public:
  using List = std::shared_ptr<const std::vector<admission::Webhook>>;

  /// `types` and `objects` must outlive it. `shared` says that other servers write configurations
  /// to the same storage.
  Webhooks(TypeRegistry& types, ObjectStore& objects, std::shared_ptr<admission::Caller> caller,
           bool shared);

  /// Returns when every write of a configuration that happened before the call is in effect. After
  /// a failure, Tick tries again. Returns kCancelled and errors of the storage.
  apimachinery::Result<void> Sync(const std::stop_token& stop);
  /// Repeats a failed Sync, and follows the configurations of other servers. To be called about
  /// once a second.
  void Tick(const std::stop_token& stop);

  /// The mutating webhooks in the order in which they are called: by the names of their
  /// configurations. Never null, and neither is validating().
  List mutating() const;
  List validating() const;

  admission::Caller& caller() { return *caller_; }
  /// The threads on which all requests ask webhooks.
  admission::HelperThreads& threads() { return threads_; }

  apimachinery::Result<apimachinery::LabelMap> NamespaceLabels(
      const std::string& name, const std::stop_token& stop) override;
  /// Returns the Service's external name, the address of one of its ready endpoints, or the address
  /// of the Service itself.
  apimachinery::Result<std::string> Resolve(const admission::ServiceReference& service,
                                            const std::stop_token& stop) override;

 private:
  /// Reads the configurations of one type.
  apimachinery::Result<void> Read(const char* plural, List Webhooks::* known,
                                  const std::stop_token& stop) KX_REQUIRES(sync_mu_);
  /// "HOST:PORT" of a ready endpoint; "" when there is none.
  std::string FindEndpoint(const admission::ServiceReference& service, const std::string& port_name,
                           const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  const std::shared_ptr<admission::Caller> caller_;
  admission::HelperThreads threads_;
  const bool shared_;
  base::Mutex sync_mu_;  // Before mu_.
  mutable base::Mutex mu_;
  List mutating_ KX_GUARDED_BY(mu_);
  List validating_ KX_GUARDED_BY(mu_);
  bool again_ KX_GUARDED_BY(mu_) = false;  // Tick has something to do
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_WEBHOOKS_H_
