/// @file
/// The admission webhooks that are configured.
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
#include "kubexx/apiserver/admission/webhook.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Follows the stored configurations, and finds namespaces and Services for those who ask the
/// webhooks. Thread-safe.
class Webhooks final : public admission::Cluster {
 public:
  using List = std::shared_ptr<const std::vector<admission::Webhook>>;

  /// `types` and `objects` must outlive it. `shared`: other servers write configurations to the
  /// same storage.
  Webhooks(TypeRegistry& types, ObjectStore& objects, std::shared_ptr<admission::Caller> caller,
           bool shared);

  /// Returns when every write of a configuration that was done before the call has come into
  /// effect. What fails is tried again in Tick. kCancelled and errors of the storage.
  apimachinery::Result<void> Sync(const std::stop_token& stop);
  /// To be called about once a second.
  void Tick(const std::stop_token& stop);

  /// In the order in which they are asked: by the names of their configurations. Never null.
  List mutating() const;
  List validating() const;

  admission::Caller& caller() { return *caller_; }

  apimachinery::Result<apimachinery::LabelMap> NamespaceLabels(
      const std::string& name, const std::stop_token& stop) override;
  /// The address of an external name, of one of the Service's endpoints that are ready, or of the
  /// Service itself.
  apimachinery::Result<std::string> Resolve(const admission::ServiceReference& service,
                                            const std::stop_token& stop) override;

 private:
  /// Reads what the configurations of one type say.
  apimachinery::Result<void> Read(const char* plural, List Webhooks::* known,
                                  const std::stop_token& stop) KX_REQUIRES(sync_mu_);
  /// "HOST:PORT" of an endpoint that is ready; "" when there is none.
  std::string FindEndpoint(const admission::ServiceReference& service, const std::string& port_name,
                           const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  const std::shared_ptr<admission::Caller> caller_;
  const bool shared_;
  base::Mutex sync_mu_;  // Before mu_.
  mutable base::Mutex mu_;
  List mutating_ KX_GUARDED_BY(mu_);
  List validating_ KX_GUARDED_BY(mu_);
  bool again_ KX_GUARDED_BY(mu_) = false;  // Tick has something to do
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_WEBHOOKS_H_
