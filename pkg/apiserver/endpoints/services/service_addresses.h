/// @file
/// What the server gives a Service that is written: addresses, IP families and ports of nodes.
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

/// Gives a new Service, with its defaults, what it has not and is to have, and takes what it names.
/// The claim is to be committed when the Service is stored. kInvalid for what cannot be had,
/// kInternalError when nothing is left, and errors of the store. As kube-apiserver's beginCreate.
apimachinery::Result<ServiceAllocator::Claim> AllocateNew(ServiceAllocator& allocator,
                                                          const ResourceType& type, bool dry_run,
                                                          codec::JsonTree& object,
                                                          const std::stop_token& stop);

/// The same of an update of `current` to `object`, which keeps what it leaves out; what it does not
/// need any more is given up with the commit. A Service that was stored without an address gets
/// one. As kube-apiserver's beginUpdate.
apimachinery::Result<ServiceAllocator::Claim> AllocateChange(ServiceAllocator& allocator,
                                                             const ResourceType& type, bool dry_run,
                                                             const codec::JsonTree& current,
                                                             codec::JsonTree& object,
                                                             const std::stop_token& stop);

/// Takes from an update of a Service what belongs to the type that it had, where the client has not
/// changed that. As kube-apiserver's dropTypeDependentFields.
void DropOfFormerType(const ResourceType& type, const codec::JsonTree& current,
                      codec::JsonTree& object);

/// Whether a Service has a port for the health of its nodes.
bool HasHealthPort(const codec::JsonTree& spec);

/// Whether a Service takes traffic from outside of the cluster.
bool IsExternallyAccessible(const codec::JsonTree& spec);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ADDRESSES_H_
