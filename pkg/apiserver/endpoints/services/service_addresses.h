/// @file
/// Assigns IP addresses, IP families and node ports to a Service that is written.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ADDRESSES_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ADDRESSES_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/services/service_allocator.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the type is that of Services.
bool IsService(const ResourceType& type);

/// Assigns missing addresses and ports to a new Service, which has its defaults, and claims those
/// that the Service names. The caller commits the claim when the Service is stored. Returns
/// kInvalid when a named address or port cannot be had, kInternalError when none is left, and
/// errors of the store. As kube-apiserver's beginCreate.
apimachinery::Result<ServiceAllocator::Claim> AllocateNew(ServiceAllocator& allocator,
                                                          const ResourceType& type, bool dry_run,
                                                          codec::JsonTree& object,
                                                          const std::stop_token& stop);

/// The same for an update of `current` to `object`. The Service keeps addresses and ports that
/// `object` leaves out; those that it does not need any more are given up when the claim is
/// committed. A Service that was stored without an address gets one. As kube-apiserver's
/// beginUpdate.
apimachinery::Result<ServiceAllocator::Claim> AllocateChange(ServiceAllocator& allocator,
                                                             const ResourceType& type, bool dry_run,
                                                             const codec::JsonTree& current,
                                                             codec::JsonTree& object,
                                                             const std::stop_token& stop);

/// When an update changes the type of a Service, removes the fields that belong to the old type,
/// unless the client has changed them. As kube-apiserver's dropTypeDependentFields.
void DropOfFormerType(const ResourceType& type, const codec::JsonTree& current,
                      codec::JsonTree& object);

/// Whether a Service needs a health check node port.
bool HasHealthPort(const codec::JsonTree& spec);

/// Whether a Service can get traffic from outside of the cluster.
bool IsExternallyAccessible(const codec::JsonTree& spec);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ADDRESSES_H_
