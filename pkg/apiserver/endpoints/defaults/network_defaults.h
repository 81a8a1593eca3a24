/// @file
/// Defaults of Services, of what is behind them, and of policies and classes of the network.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_NETWORK_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_NETWORK_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the missing fields of a Service, and removes those that mean nothing for its type. As
/// core/v1's SetDefaults_Service.
void SetServiceDefaults(codec::JsonTree& object);
/// Sets the missing names and protocols of an EndpointSlice's ports.
void SetEndpointSliceDefaults(codec::JsonTree& object);
/// Sets the missing protocols of the ports of Endpoints.
void SetEndpointsDefaults(codec::JsonTree& object);
/// Sets the missing policy types and protocols of a NetworkPolicy. As networking/v1's
/// SetDefaults_NetworkPolicy.
void SetNetworkPolicyDefaults(codec::JsonTree& object);
/// Sets the missing scope of an IngressClass's parameters, if it has any.
void SetIngressClassDefaults(codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_NETWORK_DEFAULTS_H_
