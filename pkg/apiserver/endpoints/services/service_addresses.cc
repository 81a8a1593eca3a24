#include "kubexx/apiserver/endpoints/services/service_addresses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/services/service_families.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using Claim = ServiceAllocator::Claim;

constexpr const char* kNodePort = "nodePort";
constexpr const char* kHealthPort = "healthCheckNodePort";

/// A Service that is written, with what it claims.
struct ServiceWrite {
  const ResourceType& type;
  JsonTree& object;
  Claim& claim;

  JsonTree& spec() const { return object["spec"]; }
  std::string name() const { return MetaString(object, "name"); }
  std::unexpected<apimachinery::Status> Refused(FieldCauses causes) const {
    return Fail(Invalid(type, name(), std::move(causes).Take()));
  }
  std::unexpected<apimachinery::Status> Failed(const std::string& why) const {
    apimachinery::Status status(Reason::kInternalError, "Internal error occurred: " + why, 500);
    status.details.causes.push_back({.message = why});
    return Fail(std::move(status));
  }
};

std::int64_t PortNumberAt(const JsonTree& object, const char* member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

const JsonTree& SpecOfService(const JsonTree& object) {
  static const JsonTree kEmpty = JsonTree::Object();
  const JsonTree* const spec = object.Find("spec");
  return spec == nullptr ? kEmpty : *spec;
}

bool HasNodePorts(const JsonTree& spec) {
  const std::string_view type = spec.TextAt("type");
  return type == "NodePort" || type == "LoadBalancer";
}

/// Whether ports that do not name a node port get one.
bool GetsNodePorts(const JsonTree& spec) {
  const JsonTree* const wanted = spec.Find("allocateLoadBalancerNodePorts");
  return HasNodePorts(spec) && (spec.TextAt("type") == "NodePort" || wanted == nullptr ||
                                wanted->AsBool().value_or(true));
}

std::span<JsonTree> PortsOf(JsonTree& spec) {
  JsonTree* const ports = spec.Find("ports");
  return ports == nullptr ? std::span<JsonTree>() : ports->elements();
}

std::set<std::int64_t> NodePortsOf(const JsonTree& spec) {
  std::set<std::int64_t> numbers;
  for (const JsonTree& port : ElementsAt(spec, {"ports"})) {
    if (const std::int64_t number = PortNumberAt(port, kNodePort); number != 0) {
      numbers.insert(number);
    }
  }
  return numbers;
}

/// Takes the addresses from `from` on for the families.
Result<void> TakeAddresses(const ServiceWrite& service, ServiceFamilies& fields, std::size_t from) {
  for (std::size_t i = from; i < fields.families.size(); ++i) {
    if (i >= fields.cluster_ips.size()) {
      fields.cluster_ips.emplace_back();
    }
    std::string& address = fields.cluster_ips[i];
    if (address.empty()) {
      KX_ASSIGN_OR_RETURN(auto found, service.claim.TakeAnyAddress(fields.families[i] == "IPv6"));
      if (!found) {
        return service.Failed("failed to allocate a serviceIP for Service " +
                              JsonTree(service.name()).ToJson() + ": range is full");
      }
      address = std::move(*found);
    } else {
      KX_ASSIGN_OR_RETURN(const std::string problem, service.claim.TakeAddress(address));
      if (!problem.empty()) {
        FieldCauses causes;
        causes.Invalid("spec.clusterIPs", fields.AddressesText(),
                       "failed to allocate IP " + address + ": " + problem);
        return service.Refused(std::move(causes));
      }
    }
  }
  if (!fields.cluster_ips.empty()) {
    fields.cluster_ip = fields.cluster_ips.front();
  }
  return {};
}

Result<void> TakeNodePort(const ServiceWrite& service, std::size_t index, std::int64_t number) {
  KX_ASSIGN_OR_RETURN(const std::string problem, service.claim.TakePort(number));
  if (problem.empty()) {
    return {};
  }
  FieldCauses causes;
  causes.Invalid("spec.ports[" + std::to_string(index) + "].nodePort", std::to_string(number),
                 problem);
  return service.Refused(std::move(causes));
}

Result<std::int64_t> TakeAnyNodePort(const ServiceWrite& service) {
  KX_ASSIGN_OR_RETURN(const auto number, service.claim.TakeAnyPort());
  return number ? Result<std::int64_t>(*number)
                : service.Failed("failed to allocate a nodePort: range is full");
}

/// Returns the node ports that a Service names, by the ports. When several are named for one port,
/// the first one counts.
std::map<std::int64_t, std::int64_t> NamedNodePorts(const JsonTree& spec) {
  std::map<std::int64_t, std::int64_t> named;
  for (const JsonTree& port : ElementsAt(spec, {"ports"})) {
    if (const std::int64_t number = PortNumberAt(port, kNodePort); number != 0) {
      named.try_emplace(PortNumberAt(port, "port"), number);
    }
  }
  return named;
}

/// The same port of several protocols has the same node port.
Result<void> TakeNewPorts(const ServiceWrite& service) {
  JsonTree& spec = service.spec();
  std::map<std::int64_t, std::int64_t> by_port;
  const std::map<std::int64_t, std::int64_t> named_ports = NamedNodePorts(spec);
  const std::span<JsonTree> ports = PortsOf(spec);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t given = PortNumberAt(ports[i], kNodePort);
    if (given == 0 && !GetsNodePorts(spec)) {
      continue;
    }
    std::int64_t& shared = by_port[PortNumberAt(ports[i], "port")];
    if (shared != 0) {
      if (given == 0) {
        ports[i][kNodePort] = shared;
      } else if (given != shared) {
        KX_RETURN_IF_ERROR(TakeNodePort(service, i, given));
      }
      continue;
    }
    if (const auto named = named_ports.find(PortNumberAt(ports[i], "port"));
        named != named_ports.end()) {
      shared = named->second;
      KX_RETURN_IF_ERROR(TakeNodePort(service, i, shared));
    } else {
      KX_ASSIGN_OR_RETURN(shared, TakeAnyNodePort(service));
    }
    ports[i][kNodePort] = shared;
  }
  return {};
}

Result<void> TakeHealthPort(const ServiceWrite& service) {
  JsonTree& spec = service.spec();
  if (const std::int64_t given = PortNumberAt(spec, kHealthPort); given != 0) {
    KX_ASSIGN_OR_RETURN(const std::string problem, service.claim.TakePort(given));
    return problem.empty() ? Result<void>()
                           : service.Failed("failed to allocate requested HealthCheck NodePort " +
                                            std::to_string(given) + ": " + problem);
  }
  KX_ASSIGN_OR_RETURN(const auto number, service.claim.TakeAnyPort());
  if (!number) {
    return service.Failed("failed to allocate a HealthCheck NodePort 0: range is full");
  }
  spec[kHealthPort] = *number;
  return {};
}

/// Keeps node ports that an update leaves out, by the names of the ports.
void KeepNodePorts(const JsonTree& before, JsonTree& after) {
  if (GetsNodePorts(before) && GetsNodePorts(after)) {
    const std::set<std::int64_t> used = NodePortsOf(after);
    std::map<std::string_view, std::int64_t> by_name;
    for (const JsonTree& port : ElementsAt(before, {"ports"})) {
      by_name[port.TextAt("name")] = PortNumberAt(port, kNodePort);
    }
    for (JsonTree& port : PortsOf(after)) {
      const auto former = by_name.find(port.TextAt("name"));
      if (PortNumberAt(port, kNodePort) == 0 && former != by_name.end() && former->second != 0 &&
          !used.contains(former->second)) {
        port[kNodePort] = former->second;
      }
    }
  }
  if (HasHealthPort(before) && HasHealthPort(after) && PortNumberAt(after, kHealthPort) == 0 &&
      PortNumberAt(before, kHealthPort) != 0) {
    after[kHealthPort] = PortNumberAt(before, kHealthPort);
  }
}

Result<void> ChangeAddresses(const ServiceWrite& service, const ServiceFamilies& before,
                             ServiceFamilies& after) {
  if (KeepsPreferredFamilies(&before, after)) {
    return {};
  }
  if (before.is_name() && after.is_name()) {
    return {};
  }
  // A Service from a server that did not allocate addresses has none.
  if (before.is_name() || before.cluster_ips.empty()) {
    return after.is_name() || after.is_headless() ? Result<void>()
                                                  : TakeAddresses(service, after, 0);
  }
  if (before.is_headless()) {
    return {};
  }
  if (after.is_name()) {
    for (const std::string& address : before.cluster_ips) {
      service.claim.GiveUpAddress(address);
    }
  } else if (before.families.size() == 1 && after.families.size() == 2) {
    return TakeAddresses(service, after, 1);
  } else if (before.families.size() == 2 && after.families.size() == 1 &&
             before.cluster_ips.size() == 2) {
    service.claim.GiveUpAddress(before.cluster_ips.back());
  }
  return {};
}

/// Takes the node ports that the update adds, and gives up those that it removes.
Result<void> ChangeNodePorts(const ServiceWrite& service, const JsonTree& before) {
  JsonTree& spec = service.spec();
  const std::set<std::int64_t> former = NodePortsOf(before);
  if (!HasNodePorts(spec)) {
    for (const std::int64_t number : HasNodePorts(before) ? former : std::set<std::int64_t>()) {
      service.claim.GiveUpPort(number);
    }
    return {};
  }
  std::set<std::int64_t> taken;
  std::set<std::pair<std::string, std::int64_t>> seen;
  const std::span<JsonTree> ports = PortsOf(spec);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    std::int64_t number = PortNumberAt(ports[i], kNodePort);
    if (number == 0) {
      if (!GetsNodePorts(spec)) {
        continue;
      }
      KX_ASSIGN_OR_RETURN(number, TakeAnyNodePort(service));
      ports[i][kNodePort] = number;
    } else if (!former.contains(number) && taken.insert(number).second) {
      KX_RETURN_IF_ERROR(TakeNodePort(service, i, number));
    }
    const std::string protocol(ports[i].TextAt("protocol"));
    if (!seen.emplace(protocol, number).second) {
      return Fail(Reason::kUnknown,
                  "duplicate nodePort: {" + protocol + " " + std::to_string(number) + "}", 500);
    }
  }
  const std::set<std::int64_t> now = NodePortsOf(spec);
  for (const std::int64_t number : former) {
    if (!now.contains(number)) {
      service.claim.GiveUpPort(number);
    }
  }
  return {};
}

Result<void> ChangeHealthPort(const ServiceWrite& service, const JsonTree& before) {
  const std::int64_t former = HasHealthPort(before) ? PortNumberAt(before, kHealthPort) : 0;
  if (HasHealthPort(service.spec())) {
    return former == 0 ? TakeHealthPort(service) : Result<void>();
  }
  if (former != 0) {
    service.claim.GiveUpPort(former);
  }
  return {};
}

/// Removes a member of an update that equals the former one.
void DropSame(const JsonTree& before, JsonTree& after, const char* member) {
  const JsonTree* const former = before.Find(member);
  const JsonTree* const now = after.Find(member);
  if (former != nullptr && now != nullptr && *former == *now) {
    after.Erase(member);
  }
}

}  // namespace

bool IsService(const ResourceType& type) { return type.Is("", "services") && !type.custom; }

bool HasHealthPort(const JsonTree& spec) {
  return spec.TextAt("type") == "LoadBalancer" && spec.TextAt("externalTrafficPolicy") == "Local";
}

bool IsExternallyAccessible(const JsonTree& spec) {
  const JsonTree* const external = spec.Find("externalIPs");
  return HasNodePorts(spec) ||
         (spec.TextAt("type") == "ClusterIP" && external != nullptr && external->size() > 0);
}

Result<Claim> AllocateNew(ServiceAllocator& allocator, const ResourceType& type, bool dry_run,
                          JsonTree& object, const std::stop_token& stop) {
  Claim claim(allocator, type, dry_run, stop);
  const ServiceWrite service{.type = type, .object = object, .claim = claim};
  JsonTree& spec = service.spec();
  ServiceFamilies fields = ServiceFamilies::Of(spec);
  MatchServiceAddresses(nullptr, fields);
  FieldCauses causes;
  ChooseServiceFamilies(allocator.ranges(), nullptr, fields, causes);
  if (!causes.empty()) {
    return service.Refused(std::move(causes));
  }
  if (!fields.is_name() && !fields.is_headless()) {
    KX_RETURN_IF_ERROR(TakeAddresses(service, fields, 0));
  }
  fields.WriteTo(spec);
  if (HasNodePorts(spec)) {
    KX_RETURN_IF_ERROR(TakeNewPorts(service));
  }
  if (HasHealthPort(spec)) {
    KX_RETURN_IF_ERROR(TakeHealthPort(service));
  }
  return claim;
}

Result<Claim> AllocateChange(ServiceAllocator& allocator, const ResourceType& type, bool dry_run,
                             const JsonTree& current, JsonTree& object,
                             const std::stop_token& stop) {
  Claim claim(allocator, type, dry_run, stop);
  const ServiceWrite service{.type = type, .object = object, .claim = claim};
  JsonTree& spec = service.spec();
  const JsonTree& former = SpecOfService(current);
  const ServiceRanges& ranges = allocator.ranges();
  const ServiceFamilies before =
      ServiceFamilies::OfStored(former, ranges.addresses.front().is_ipv6());
  ServiceFamilies after = ServiceFamilies::Of(spec);
  MatchServiceAddresses(&before, after);
  KeepNodePorts(former, spec);
  FieldCauses causes;
  ChooseServiceFamilies(ranges, &before, after, causes);
  if (!causes.empty()) {
    return service.Refused(std::move(causes));
  }
  KX_RETURN_IF_ERROR(ChangeAddresses(service, before, after));
  after.WriteTo(spec);
  KX_RETURN_IF_ERROR(ChangeNodePorts(service, former));
  KX_RETURN_IF_ERROR(ChangeHealthPort(service, former));
  return claim;
}

void DropOfFormerType(const ResourceType& type, const JsonTree& current, JsonTree& object) {
  if (!IsService(type)) {
    return;
  }
  const JsonTree& before = SpecOfService(current);
  JsonTree& after = object["spec"];
  if (before.TextAt("type") != "ExternalName" && after.TextAt("type") == "ExternalName") {
    if (before.TextAt("clusterIP") == after.TextAt("clusterIP") &&
        StringsAt(before, "clusterIPs") == StringsAt(after, "clusterIPs")) {
      after.Erase("clusterIP");
      after.Erase("clusterIPs");
    }
    DropSame(before, after, "ipFamilies");
    DropSame(before, after, "ipFamilyPolicy");
  }
  if (HasNodePorts(before) && !HasNodePorts(after) &&
      std::ranges::includes(NodePortsOf(before), NodePortsOf(after))) {
    for (JsonTree& port : PortsOf(after)) {
      port.Erase(kNodePort);
    }
  }
  if (HasHealthPort(before) && !HasHealthPort(after)) {
    DropSame(before, after, kHealthPort);
  }
  if (before.TextAt("type") == "LoadBalancer" && after.TextAt("type") != "LoadBalancer") {
    DropSame(before, after, "allocateLoadBalancerNodePorts");
    DropSame(before, after, "loadBalancerClass");
  }
  if (IsExternallyAccessible(before) && !IsExternallyAccessible(after)) {
    DropSame(before, after, "externalTrafficPolicy");
  }
  if (after.TextAt("type") != "LoadBalancer" && object.At({"status", "loadBalancer"}) != nullptr) {
    object["status"]["loadBalancer"] = JsonTree::Object();
  }
}

}  // namespace kubexx::apiserver
