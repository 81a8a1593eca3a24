#include "kubexx/apiserver/endpoints/defaults/network_defaults.h"

#include <string>

#include "kubexx/apiserver/endpoints/defaults/set_default.h"
#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The defaults of traffic policies apply only to types of Services that take traffic from that
/// direction.
void DefaultTraffic(JsonTree& spec) {
  // The copies are needed, because members that are added move the others.
  const std::string type(spec.TextAt("type"));
  const std::string internal(spec.TextAt("internalTrafficPolicy"));
  if (type != "ExternalName") {
    SetDefault(spec, "internalTrafficPolicy", "Cluster");
  } else if (internal == "Cluster" || internal == "Local") {
    spec.Erase("internalTrafficPolicy");
  }
  if (IsExternallyAccessible(spec)) {
    SetDefault(spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer") {
    SetDefault(spec, "allocateLoadBalancerNodePorts", true);
  }
}

void DefaultServicePorts(JsonTree& spec) {
  JsonTree* const ports = spec.Find("ports");
  if (ports == nullptr) {
    return;
  }
  for (JsonTree& port : ports->elements()) {
    SetDefault(port, "protocol", "TCP");
    if (const JsonTree* const target = port.Find("targetPort"); target != nullptr && *target == 0) {
      port.Erase("targetPort");
    }
    if (const JsonTree* const number = port.Find("port")) {
      SetDefault(port, "targetPort", JsonTree(*number));
    }
  }
}

void DefaultProtocols(JsonTree& object) {
  if (JsonTree* const ports = object.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      SetMissing(port, "protocol", R"("TCP")");
    }
  }
}

}  // namespace

void SetServiceDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  SetDefault(spec, "type", "ClusterIP");
  SetDefault(spec, "sessionAffinity", "None");
  if (StringAt(spec, {"sessionAffinity"}) == "ClientIP") {
    SetDefault(spec["sessionAffinityConfig"]["clientIP"], "timeoutSeconds", 10800);
  } else {
    spec.Erase("sessionAffinityConfig");
  }
  DefaultTraffic(spec);
  DefaultServicePorts(spec);
  SetDefault(object["status"], "loadBalancer", JsonTree::Object());
}

void SetEndpointSliceDefaults(JsonTree& object) {
  if (JsonTree* const ports = object.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      SetDefault(port, "name", "");
      SetDefault(port, "protocol", "TCP");
    }
  }
}

void SetEndpointsDefaults(JsonTree& object) {
  if (JsonTree* const subsets = object.Find("subsets")) {
    for (JsonTree& subset : subsets->elements()) {
      DefaultProtocols(subset);
    }
  }
}

/// A policy is for both directions when it has rules for outgoing traffic.
void SetNetworkPolicyDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  const JsonTree* const out = spec.Find("egress");
  SetMissing(spec, "policyTypes",
             out != nullptr && out->size() > 0 ? R"(["Ingress","Egress"])" : R"(["Ingress"])");
  for (const char* const direction : {"ingress", "egress"}) {
    if (JsonTree* const rules = spec.Find(direction)) {
      for (JsonTree& rule : rules->elements()) {
        DefaultProtocols(rule);
      }
    }
  }
}

void SetIngressClassDefaults(JsonTree& object) {
  SetMissingBelow(object, {"spec", "parameters"}, "scope", R"("Cluster")");
}

}  // namespace kubexx::apiserver
