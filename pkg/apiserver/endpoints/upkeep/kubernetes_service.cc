#include "kubexx/apiserver/endpoints/upkeep/kubernetes_service.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>

#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kServiceName = "kubernetes";
constexpr const char* kServiceNamespace = "default";
constexpr const char* kLoopback = "127.0.0.1";

JsonTree PortOf(const KubernetesService& service) {
  JsonTree port = JsonTree::Object();
  port["name"] = service.plain_http ? "http" : "https";
  port["protocol"] = "TCP";
  port["port"] = static_cast<std::int64_t>(service.port);
  return port;
}

JsonTree ServiceOf(const KubernetesService& service, const std::string& cluster_ip) {
  JsonTree object = JsonTree::Object();
  object["metadata"]["name"] = kServiceName;
  object["metadata"]["labels"]["component"] = "apiserver";
  object["metadata"]["labels"]["provider"] = kServiceName;
  JsonTree& spec = object["spec"];
  spec["clusterIP"] = cluster_ip;
  spec["clusterIPs"].Append(cluster_ip);
  spec["internalTrafficPolicy"] = "Cluster";
  spec["ipFamilies"].Append(cluster_ip.find(':') == std::string::npos ? "IPv4" : "IPv6");
  spec["ipFamilyPolicy"] = "SingleStack";
  JsonTree port = PortOf(service);
  port["port"] = service.plain_http ? 80 : 443;
  port["targetPort"] = static_cast<std::int64_t>(service.port);
  spec["ports"].Append(std::move(port));
  spec["sessionAffinity"] = "None";
  spec["type"] = "ClusterIP";
  return object;
}

JsonTree EndpointsOf(const KubernetesService& service) {
  JsonTree object = JsonTree::Object();
  object["metadata"]["name"] = kServiceName;
  object["metadata"]["labels"]["endpointslice.kubernetes.io/skip-mirror"] = "true";
  JsonTree address = JsonTree::Object();
  address["ip"] = service.address;
  JsonTree subset = JsonTree::Object();
  subset["addresses"].Append(std::move(address));
  subset["ports"].Append(PortOf(service));
  object["subsets"].Append(std::move(subset));
  return object;
}

JsonTree EndpointSliceOf(const KubernetesService& service) {
  JsonTree object = JsonTree::Object();
  object["metadata"]["name"] = kServiceName;
  object["metadata"]["labels"]["kubernetes.io/service-name"] = kServiceName;
  object["addressType"] = service.address.find(':') == std::string::npos ? "IPv4" : "IPv6";
  JsonTree endpoint = JsonTree::Object();
  endpoint["addresses"].Append(service.address);
  endpoint["conditions"]["ready"] = true;
  object["endpoints"].Append(std::move(endpoint));
  object["ports"].Append(PortOf(service));
  return object;
}

std::string FirstAddress(const ObjectStore& objects) {
  return objects.service_ranges().addresses.front().AddressOf(AddressRange::kFirst);
}

/// Creates the object if it does not exist. Returns whether it was created.
Result<bool> PutMissing(ObjectStore& objects, const ResourceTypeRef& type, const JsonTree& wanted,
                        const std::stop_token& stop) {
  const auto found =
      objects.Get(*type, {.namespace_ = kServiceNamespace, .name = kServiceName}, stop);
  if (found || found.error().reason != Reason::kNotFound) {
    return found ? Result<bool>(false) : Fail(found.error());
  }
  KX_ASSIGN_OR_RETURN(JsonTree object, Canonical(*type, wanted));
  const auto created = objects.Create(*type, kServiceNamespace, std::move(object), false, stop);
  if (!created && created.error().reason != Reason::kAlreadyExists) {
    return Fail(created.error());
  }
  return created.has_value();
}

/// Creates the object, or gives `members` to the existing one.
Result<void> Put(ObjectStore& objects, const ResourceTypeRef& type, const JsonTree& wanted,
                 std::initializer_list<std::string_view> members, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(JsonTree object, Canonical(*type, wanted));
  const auto created = objects.Create(*type, kServiceNamespace, std::move(object), false, stop);
  if (created || created.error().reason != Reason::kAlreadyExists) {
    return created ? Result<void>() : Fail(created.error());
  }
  const auto change = [&](const JsonTree& current) -> Result<JsonTree> {
    JsonTree changed = current;
    for (const std::string_view member : members) {
      changed[member] = *wanted.Find(member);
    }
    return Canonical(*type, changed);
  };
  KX_RETURN_IF_ERROR(objects.Update(*type, {.namespace_ = kServiceNamespace, .name = kServiceName},
                                    WritePart::kAll, change, false, stop));
  return {};
}

}  // namespace

std::string UrlOf(const KubernetesService& service) {
  const bool is_ipv6 = service.address.find(':') != std::string::npos;
  return (service.plain_http ? "http://" : "https://") +
         (is_ipv6 ? "[" + service.address + "]" : service.address) + ":" +
         std::to_string(service.port);
}

std::string ReachableAddress(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  const std::string bytes = BytesOfAddress(std::string(host));
  const std::string none(bytes.size(), '\0');
  if (!bytes.empty() && bytes != none && bytes != BytesOfAddress("::1") && bytes.front() != 127) {
    return std::string(host);
  }
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) {
    return kLoopback;
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    const auto* const address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    return TextOfAddress({reinterpret_cast<const char*>(&address->sin_addr), 4});
  }
  return kLoopback;
}

Result<void> PublishService(const TypeRegistry& types, ObjectStore& objects,
                            const KubernetesService& service, const std::stop_token& stop) {
  const auto made = PutMissing(objects, types.Find("", "v1", "services"),
                               ServiceOf(service, FirstAddress(objects)), stop);
  if (!made && made.error().reason != Reason::kInvalid) {
    return Fail(made.error());
  }
  if (!made) {  // Somebody got its address before addresses were allocated.
    logging::Warning("Cannot create the Service default/kubernetes", {{"error", made.error()}});
  }
  KX_RETURN_IF_ERROR(
      Put(objects, types.Find("", "v1", "endpoints"), EndpointsOf(service), {"subsets"}, stop));
  return Put(objects, types.Find("discovery.k8s.io", "v1", "endpointslices"),
             EndpointSliceOf(service), {"addressType", "endpoints", "ports"}, stop);
}

Result<bool> MakeMissingOfService(const TypeRegistry& types, ObjectStore& objects,
                                  const KubernetesService& service, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const bool first,
                      PutMissing(objects, types.Find("", "v1", "services"),
                                 ServiceOf(service, FirstAddress(objects)), stop));
  KX_ASSIGN_OR_RETURN(const bool second, PutMissing(objects, types.Find("", "v1", "endpoints"),
                                                    EndpointsOf(service), stop));
  KX_ASSIGN_OR_RETURN(const bool third,
                      PutMissing(objects, types.Find("discovery.k8s.io", "v1", "endpointslices"),
                                 EndpointSliceOf(service), stop));
  return first || second || third;
}

}  // namespace kubexx::apiserver
