// Tables of Services, of endpoints, and of the objects that lead to them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The number of hosts, ports and addresses that are shown.
constexpr std::size_t kShown = 3;

/// Returns the addresses or names of a load balancer, in order and each once.
std::vector<std::string> BalancersOf(const JsonTree& o) {
  std::set<std::string> names;
  for (const JsonTree& one : ElementsAt(o, {"status", "loadBalancer", "ingress"})) {
    const std::string_view ip = one.TextAt("ip");
    names.emplace(ip.empty() ? one.TextAt("hostname") : ip);
  }
  names.erase("");
  return {names.begin(), names.end()};
}

JsonTree ServiceTypeCell(const JsonTree& o) { return StringAt(o, {"spec", "type"}); }
JsonTree ClusterIpCell(const JsonTree& o) {
  const std::string first = StringAt(o, {"spec", "clusterIPs", "0"});
  return OrElse(first.empty() ? StringAt(o, {"spec", "clusterIP"}) : first);
}
JsonTree ExternalIpCell(const JsonTree& o) {
  const std::string type = StringAt(o, {"spec", "type"});
  if (type == "ExternalName") {
    return StringAt(o, {"spec", "externalName"});
  }
  std::vector<std::string> all;
  if (type == "LoadBalancer") {
    all = BalancersOf(o);
  }
  if (const std::string external = JoinedAt(o, {"spec", "externalIPs"}); !external.empty()) {
    all.push_back(external);
  }
  return OrElse(base::Join(all, ","), type == "LoadBalancer" ? "<pending>" : "<none>");
}
JsonTree PortsCell(const JsonTree& o) {
  std::vector<std::string> ports;
  for (const JsonTree& port : ElementsAt(o, {"spec", "ports"})) {
    const std::int64_t node_port = NumberAt(port, {"nodePort"});
    const std::string protocol(port.TextAt("protocol"));
    ports.push_back(std::to_string(NumberAt(port, {"port"})) +
                    (node_port > 0 ? ":" + std::to_string(node_port) : "") + "/" +
                    OrElse(protocol, "TCP"));
  }
  return OrElse(base::Join(ports, ","));
}
JsonTree ServiceSelectorCell(const JsonTree& o) { return LabelsAt(o, {"spec", "selector"}); }

/// Returns an address with its port. An IPv6 address is in brackets.
std::string HostPort(std::string_view ip, std::int64_t port) {
  const bool six = ip.find(':') != std::string_view::npos;
  return (six ? "[" + std::string(ip) + "]" : std::string(ip)) + ":" + std::to_string(port);
}

JsonTree EndpointsCell(const JsonTree& o) {
  // A thousand ports and a thousand addresses have a million pairs, so only those are made that are
  // shown.
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (const JsonTree& subset : ElementsAt(o, {"subsets"})) {
    const auto ports = ElementsAt(subset, {"ports"});
    const auto addresses = ElementsAt(subset, {"addresses"});
    count += addresses.size() * std::max<std::size_t>(ports.size(), 1);
    for (std::size_t i = 0; i < addresses.size() && shown.size() < kShown; ++i) {
      if (ports.empty()) {
        shown.emplace_back(addresses[i].TextAt("ip"));
      }
    }
    for (std::size_t i = 0; i < ports.size() && shown.size() < kShown; ++i) {
      for (std::size_t k = 0; k < addresses.size() && shown.size() < kShown; ++k) {
        shown.push_back(HostPort(addresses[k].TextAt("ip"), NumberAt(ports[i], {"port"})));
      }
    }
  }
  return OrElse(WithMore(shown, count));
}

JsonTree AddressTypeCell(const JsonTree& o) { return StringAt(o, {"addressType"}); }
JsonTree SlicePortsCell(const JsonTree& o) {
  std::vector<std::string> ports;
  for (const JsonTree& port : ElementsAt(o, {"ports"})) {
    const auto number = ValueAt(port, {"port"});
    const auto name = ValueAt(port, {"name"});
    ports.push_back(number ? *number : name ? *name : "*");
  }
  return OrElse(FirstOf(std::move(ports), kShown), "<unset>");
}
JsonTree SliceEndpointsCell(const JsonTree& o) {
  std::vector<std::string> all;
  for (const JsonTree& endpoint : ElementsAt(o, {"endpoints"})) {
    const std::vector<std::string> addresses = StringsAt(endpoint, "addresses");
    all.insert(all.end(), addresses.begin(), addresses.end());
  }
  return OrElse(FirstOf(std::move(all), kShown), "<unset>");
}

JsonTree ClassCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "ingressClassName"}).value_or("<none>");
}
JsonTree HostsCell(const JsonTree& o) {
  const auto rules = ElementsAt(o, {"spec", "rules"});
  std::vector<std::string> hosts;
  bool more = false;
  for (const JsonTree& rule : rules) {
    more = more || hosts.size() == kShown;
    if (!more && !rule.TextAt("host").empty()) {
      hosts.emplace_back(rule.TextAt("host"));
    }
  }
  if (hosts.empty()) {
    return "*";
  }
  return base::Join(hosts, ",") +
         (more ? " + " + std::to_string(rules.size() - kShown) + " more..." : "");
}
JsonTree AddressCell(const JsonTree& o) { return base::Join(BalancersOf(o), ","); }
JsonTree IngressPortsCell(const JsonTree& o) {
  return ElementsAt(o, {"spec", "tls"}).empty() ? "80" : "80, 443";
}

JsonTree IngressControllerCell(const JsonTree& o) { return StringAt(o, {"spec", "controller"}); }
JsonTree ParametersCell(const JsonTree& o) {
  const JsonTree* const parameters = o.At({"spec", "parameters"});
  if (parameters == nullptr || !parameters->IsObject()) {
    return "<none>";
  }
  const auto group = ValueAt(*parameters, {"apiGroup"});
  return std::string(parameters->TextAt("kind")) + (group ? "." + *group : "") + "/" +
         std::string(parameters->TextAt("name"));
}

JsonTree PodSelectorCell(const JsonTree& o) { return SelectorAt(o, {"spec", "podSelector"}); }
JsonTree CidrsCell(const JsonTree& o) { return JoinedAt(o, {"spec", "cidrs"}); }
JsonTree ParentCell(const JsonTree& o) {
  const JsonTree* const parent = o.At({"spec", "parentRef"});
  if (parent == nullptr || !parent->IsObject()) {
    return "<none>";
  }
  std::string text(parent->TextAt("resource"));
  for (const std::string_view member : {"group", "namespace", "name"}) {
    if (const std::string_view part = parent->TextAt(member); !part.empty()) {
      text.append(member == "group" ? "." : "/").append(part);
    }
  }
  return text;
}

constexpr Column kServiceColumns[] = {kNameColumn,
                                      {"Type", "string", ServiceTypeCell},
                                      {"Cluster-IP", "string", ClusterIpCell},
                                      {"External-IP", "string", ExternalIpCell},
                                      {"Port(s)", "string", PortsCell},
                                      kAgeColumn,
                                      {"Selector", "string", ServiceSelectorCell, 1}};
constexpr Column kEndpointsColumns[] = {
    kNameColumn, {"Endpoints", "string", EndpointsCell}, kAgeColumn};
constexpr Column kSliceColumns[] = {kNameColumn,
                                    {"AddressType", "string", AddressTypeCell},
                                    {"Ports", "string", SlicePortsCell},
                                    {"Endpoints", "string", SliceEndpointsCell},
                                    kAgeColumn};
constexpr Column kIngressColumns[] = {kNameColumn,
                                      {"Class", "string", ClassCell},
                                      {"Hosts", "string", HostsCell},
                                      {"Address", "string", AddressCell},
                                      {"Ports", "string", IngressPortsCell},
                                      kAgeColumn};
constexpr Column kIngressClassColumns[] = {kNameColumn,
                                           {"Controller", "string", IngressControllerCell},
                                           {"Parameters", "string", ParametersCell},
                                           kAgeColumn};
constexpr Column kPolicyColumns[] = {
    kNameColumn, {"Pod-Selector", "string", PodSelectorCell}, kAgeColumn};
constexpr Column kCidrColumns[] = {kNameColumn, {"CIDRs", "string", CidrsCell}, kAgeColumn};
constexpr Column kAddressColumns[] = {kNameColumn, {"ParentRef", "string", ParentCell}};

}  // namespace

constexpr ColumnTable kServiceTable{.columns = kServiceColumns};
constexpr ColumnTable kEndpointsTable{.columns = kEndpointsColumns};
constexpr ColumnTable kEndpointSliceTable{.columns = kSliceColumns};
constexpr ColumnTable kIngressTable{.columns = kIngressColumns};
constexpr ColumnTable kIngressClassTable{.columns = kIngressClassColumns};
constexpr ColumnTable kNetworkPolicyTable{.columns = kPolicyColumns};
constexpr ColumnTable kServiceCidrTable{.columns = kCidrColumns};
constexpr ColumnTable kIpAddressTable{.columns = kAddressColumns};

}  // namespace kubexx::apiserver
