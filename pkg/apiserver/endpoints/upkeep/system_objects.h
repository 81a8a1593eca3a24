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

/// Makes them, and again when they have gone, as kube-apiserver's controllers of system namespaces
/// and of the Service do. Not thread-safe.
class SystemObjects {
 public:
  /// `types` and `objects` must outlive it.
  SystemObjects(const TypeRegistry& types, ObjectStore& objects)
      : types_(types), objects_(objects) {}

  /// Makes the namespaces default, kube-system, kube-public and kube-node-lease where they are not
  /// there; errors of the store.
  apimachinery::Result<void> MakeNamespaces(const std::stop_token& stop);

  /// Makes the Service default/kubernetes; see PublishService.
  apimachinery::Result<void> Publish(const KubernetesService& service, const std::stop_token& stop);

  /// To be called about once a second: looks for the namespaces once a minute, and for the Service,
  /// once it has been published, every ten seconds. What another server has written is left as it
  /// is. What cannot be made is tried the next time.
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
