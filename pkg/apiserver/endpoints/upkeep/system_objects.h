/// @file
/// The namespaces and the Service that every cluster has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_SYSTEM_OBJECTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_SYSTEM_OBJECTS_H_

#include <optional>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/upkeep/kubernetes_service.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver {

/// Creates them, and creates them again when somebody has deleted them, as kube-apiserver's
/// controllers of system namespaces and of the Service do. Not thread-safe.
class SystemObjects {
 public:
  /// `types` and `objects` must outlive it.
  SystemObjects(const TypeRegistry& types, ObjectStore& objects)
      : types_(types), objects_(objects) {}

  /// Creates the namespaces default, kube-system, kube-public and kube-node-lease unless they
  /// exist. Returns errors of the store.
  apimachinery::Result<void> MakeNamespaces(const std::stop_token& stop);

  /// Creates the Service default/kubernetes; see PublishService.
  apimachinery::Result<void> Publish(const KubernetesService& service, const std::stop_token& stop);

  /// Checks the namespaces once a minute, and the Service, once it has been published, every ten
  /// seconds. Does not change what another server has written. Repeats failed attempts. To be
  /// called about once a second.
  void Tick(const std::stop_token& stop);

 private:
  const TypeRegistry& types_;
  ObjectStore& objects_;
  std::optional<KubernetesService> service_{};
  std::optional<base::TimePoint> namespaces_due_{};
  std::optional<base::TimePoint> service_due_{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_SYSTEM_OBJECTS_H_
