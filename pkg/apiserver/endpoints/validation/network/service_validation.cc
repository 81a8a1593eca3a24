#include "kubexx/apiserver/endpoints/validation/network/service_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/endpoints/services/service_families.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kMostAffinitySeconds = 86400;
constexpr const char* kForBalancersOnly = "may only be used when `type` is 'LoadBalancer'";
constexpr const char* kSourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
constexpr const char* kTopologyHints = "service.kubernetes.io/topology-aware-hints";
constexpr const char* kTopologyMode = "service.kubernetes.io/topology-mode";

const JsonTree& SpecOrNothing(const JsonTree* object) {
  static const JsonTree kEmpty = JsonTree::Object();
  const JsonTree* const spec = object == nullptr ? nullptr : object->Find("spec");
  return spec == nullptr ? kEmpty : *spec;
}

std::int64_t FieldNumber(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Adds a fault when a text is not among the choices. A required field must not be "".
void CheckSetChoice(const JsonTree& spec, std::string_view member, const std::string& field,
                    std::initializer_list<std::string_view> choices, FieldCauses& causes) {
  const std::string_view text = spec.TextAt(member);
  if (text.empty()) {
    causes.Required(field);
  } else if (std::ranges::find(choices, text) == choices.end()) {
    std::string list;
    for (const std::string_view choice : choices) {
      list += (list.empty() ? "" : ", ") + QuotedJson(choice);
    }
    causes.NotSupported(field, QuotedJson(text), list);
  }
}

void CheckOnePort(const JsonTree& port, bool needs_name, std::set<std::string>& names,
                  const std::string& path, FieldCauses& causes) {
  const std::string name(port.TextAt("name"));
  if (name.empty() && needs_name) {
    causes.Required(path + ".name");
  } else if (!name.empty()) {
    if (!apimachinery::IsDnsLabel(name)) {
      causes.Invalid(path + ".name", QuotedJson(name), "must be a DNS label");
    }
    if (!names.insert(name).second) {
      causes.Duplicate(path + ".name", QuotedJson(name));
    }
  }
  CheckPortNumber(FieldNumber(port, "port"), path + ".port", causes);
  CheckSetChoice(port, "protocol", path + ".protocol", {"SCTP", "TCP", "UDP"}, causes);
  if (const JsonTree* const target = port.Find("targetPort"); target != nullptr) {
    if (const std::string* const of_pod = target->AsString()) {
      CheckPortName(*of_pod, path + ".targetPort", causes);
    } else {
      CheckPortNumber(target->AsInt().value_or(0), path + ".targetPort", causes);
    }
  }
  if (const JsonTree* const protocol = port.Find("appProtocol");
      protocol != nullptr && protocol->AsString() != nullptr) {
    CheckLabelKey(*protocol->AsString(), path + ".appProtocol", causes);
  }
}

/// Checks that no port and no node port occurs twice with the same protocol.
void CheckTwice(std::span<const JsonTree> ports, FieldCauses& causes) {
  using Key = std::pair<std::string_view, std::int64_t>;
  std::set<Key> numbers;
  std::set<Key> node_ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t number = FieldNumber(ports[i], "nodePort");
    if (number != 0 && !node_ports.emplace(ports[i].TextAt("protocol"), number).second) {
      causes.Duplicate("spec.ports[" + std::to_string(i) + "].nodePort", std::to_string(number));
    }
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t number = FieldNumber(ports[i], "port");
    if (!numbers.emplace(ports[i].TextAt("protocol"), number).second) {
      causes.Duplicate("spec.ports[" + std::to_string(i) + "]",
                       R"({"Name":"","Protocol":)" + QuotedJson(ports[i].TextAt("protocol")) +
                           R"(,"AppProtocol":null,"Port":)" + std::to_string(number) +
                           R"(,"TargetPort":0,"NodePort":0})");
    }
  }
}

void CheckPorts(const JsonTree& spec, bool headless, FieldCauses& causes) {
  const std::string_view type = spec.TextAt("type");
  const std::span<const JsonTree> ports = ElementsAt(spec, {"ports"});
  if (ports.empty() && !headless && type != "ExternalName") {
    causes.Required("spec.ports");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string path = "spec.ports[" + std::to_string(i) + "]";
    CheckOnePort(ports[i], ports.size() > 1, names, path, causes);
    if (type == "ClusterIP" && FieldNumber(ports[i], "nodePort") != 0) {
      causes.Forbidden(path + ".nodePort", "may not be used when `type` is 'ClusterIP'");
    }
  }
  CheckTwice(ports, causes);
}

/// Checks which fields the type of the Service requires and forbids.
void CheckType(const JsonTree& spec, const ServiceFamilies& fields, FieldCauses& causes) {
  CheckSetChoice(spec, "type", "spec.type",
                 {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, causes);
  if ((fields.type == "LoadBalancer" || fields.type == "NodePort") && fields.is_headless()) {
    causes.Invalid("spec.clusterIPs[0]", "\"None\"",
                   "may not be set to 'None' for " + fields.type + " services");
  }
  if (!fields.is_name()) {
    return;
  }
  for (const auto& [field, is_set] : {std::pair("spec.clusterIPs", !fields.cluster_ips.empty()),
                                      std::pair("spec.ipFamilies", !fields.families.empty()),
                                      std::pair("spec.ipFamilyPolicy", !fields.policy.empty())}) {
    if (is_set) {
      causes.Forbidden(field, "may not be set for ExternalName services");
    }
  }
  std::string_view name = spec.TextAt("externalName");
  name.remove_suffix(name.ends_with('.') ? 1 : 0);  // the dot has no meaning in DNS
  if (name.empty()) {
    causes.Required("spec.externalName");
  } else if (!apimachinery::IsDnsSubdomain(name)) {
    causes.Invalid("spec.externalName", QuotedJson(name), "must be a DNS subdomain");
  }
}

void CheckAffinity(const JsonTree& spec, FieldCauses& causes) {
  const std::string field = "spec.sessionAffinityConfig";
  CheckSetChoice(spec, "sessionAffinity", "spec.sessionAffinity", {"ClientIP", "None"}, causes);
  if (spec.TextAt("sessionAffinity") == "None" &&
      GivenAt(spec, "sessionAffinityConfig") != nullptr) {
    causes.Forbidden(field, "must not be set when session affinity is None");
  }
  if (spec.TextAt("sessionAffinity") != "ClientIP") {
    return;
  }
  const JsonTree* const seconds = spec.At({"sessionAffinityConfig", "clientIP", "timeoutSeconds"});
  if (seconds == nullptr) {
    causes.Required(field + ".clientIP.timeoutSeconds", "when session affinity type is ClientIP");
  } else if (const std::int64_t number = seconds->AsInt().value_or(0);
             number < 1 || number > kMostAffinitySeconds) {
    causes.Invalid(field + ".clientIP.timeoutSeconds", seconds->ToJson(),
                   "must be greater than 0 and less than 86400");
  }
}

/// Checks an address to which traffic from outside is sent.
void CheckExternalIp(const std::string& text, const std::string& field, FieldCauses& causes) {
  const std::string bytes = BytesOfOldAddress(text);
  const std::string_view problem =
      bytes.empty() ? "must be a valid IP address" : UnreachableBecause(bytes);
  if (!problem.empty()) {
    causes.Invalid(field, QuotedJson(text), problem);
  }
}

void CheckExternalIps(const JsonTree& old_spec, const JsonTree& spec, FieldCauses& causes) {
  const std::vector<std::string> before = StringsAt(old_spec, "externalIPs");
  const std::set<std::string_view> former(before.begin(), before.end());
  const std::vector<std::string> addresses = StringsAt(spec, "externalIPs");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string field = "spec.externalIPs[" + std::to_string(i) + "]";
    const std::string problem = former.contains(addresses[i]) ? "" : AddressProblem(addresses[i]);
    if (problem.empty()) {
      CheckExternalIp(addresses[i], field, causes);
    } else {
      causes.Invalid(field, QuotedJson(addresses[i]), problem);
    }
  }
}

std::string TrimmedRange(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first == std::string_view::npos
             ? std::string()
             : std::string(text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1));
}

void CheckSourceRange(const std::string& range, const std::string& field, FieldCauses& causes) {
  if (const std::string problem = CidrProblem(range); !problem.empty()) {
    causes.Invalid(field, QuotedJson(range), problem);
  }
}

/// Checks the annotation that was used before the field existed.
void CheckAnnotatedRanges(const JsonTree* old, const JsonTree& service, FieldCauses& causes) {
  const apimachinery::LabelMap annotations = MetaMap(service, "annotations");
  const auto found = annotations.find(kSourceRanges);
  if (found == annotations.end()) {
    return;
  }
  const std::string field = std::string("metadata.annotations[") + kSourceRanges + "]";
  if (SpecOrNothing(&service).TextAt("type") != "LoadBalancer") {
    causes.Forbidden(field, kForBalancersOnly);
  }
  if (old != nullptr) {
    const apimachinery::LabelMap former = MetaMap(*old, "annotations");
    const auto same = former.find(kSourceRanges);
    if (same != former.end() && same->second == found->second) {
      return;
    }
  }
  const std::string ranges = TrimmedRange(found->second);
  std::string_view rest = ranges;
  for (bool more = !rest.empty(); more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    CheckSourceRange(TrimmedRange(rest.substr(0, comma)), field, causes);
    rest.remove_prefix(more ? comma + 1 : rest.size());
  }
}

void CheckSourceRanges(const JsonTree* old, const JsonTree& service, FieldCauses& causes) {
  const JsonTree& spec = SpecOrNothing(&service);
  const std::vector<std::string> ranges = StringsAt(spec, "loadBalancerSourceRanges");
  if (ranges.empty()) {
    CheckAnnotatedRanges(old, service, causes);
    return;
  }
  const std::string field = "spec.LoadBalancerSourceRanges";  // kube-apiserver writes it like this
  if (spec.TextAt("type") != "LoadBalancer") {
    causes.Forbidden(field, kForBalancersOnly);
  }
  std::set<std::string> former;
  for (const std::string& one : StringsAt(SpecOrNothing(old), "loadBalancerSourceRanges")) {
    former.insert(TrimmedRange(one));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (const std::string range = TrimmedRange(ranges[i]); !former.contains(range)) {
      CheckSourceRange(range, field + "[" + std::to_string(i) + "]", causes);
    }
  }
}

void CheckBalancer(const JsonTree& spec, FieldCauses& causes) {
  const bool balances = spec.TextAt("type") == "LoadBalancer";
  if (!balances && GivenAt(spec, "allocateLoadBalancerNodePorts") != nullptr) {
    causes.Forbidden("spec.allocateLoadBalancerNodePorts", kForBalancersOnly);
  }
  const JsonTree* const kind = spec.Find("loadBalancerClass");
  if (kind == nullptr || kind->AsString() == nullptr) {
    return;
  }
  if (balances) {
    CheckLabelKey(*kind->AsString(), "spec.loadBalancerClass", causes);
  } else {
    causes.Forbidden("spec.loadBalancerClass", kForBalancersOnly);
  }
}

void CheckTraffic(const JsonTree& spec, FieldCauses& causes) {
  const std::string_view external = spec.TextAt("externalTrafficPolicy");
  if (IsExternallyAccessible(spec)) {
    CheckSetChoice(spec, "externalTrafficPolicy", "spec.externalTrafficPolicy",
                   {"Cluster", "Local"}, causes);
  } else if (!external.empty()) {
    causes.Invalid("spec.externalTrafficPolicy", QuotedJson(external),
                   "may only be set for externally-accessible services");
  }
  const std::int64_t port = FieldNumber(spec, "healthCheckNodePort");
  if (HasHealthPort(spec)) {
    if (port == 0) {
      causes.Required("spec.healthCheckNodePort");
    } else {
      CheckPortNumber(port, "spec.healthCheckNodePort", causes);
    }
  } else if (port != 0) {
    causes.Invalid(
        "spec.healthCheckNodePort", std::to_string(port),
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  }
  if (spec.TextAt("type") != "ExternalName" || !spec.TextAt("internalTrafficPolicy").empty()) {
    CheckSetChoice(spec, "internalTrafficPolicy", "spec.internalTrafficPolicy",
                   {"Cluster", "Local"}, causes);
  }
  if (GivenAt(spec, "trafficDistribution") != nullptr) {
    CheckSetChoice(spec, "trafficDistribution", "spec.trafficDistribution",
                   {"PreferClose", "PreferSameZone", "PreferSameNode"}, causes);
  }
}

void CheckTopology(const JsonTree& service, FieldCauses& causes) {
  const apimachinery::LabelMap annotations = MetaMap(service, "annotations");
  const auto hints = annotations.find(kTopologyHints);
  const auto mode = annotations.find(kTopologyMode);
  if (hints != annotations.end() && mode != annotations.end() && hints->second != mode->second) {
    causes.Invalid(
        std::string("metadata.annotations[") + kTopologyMode + "]", QuotedJson(mode->second),
        std::string("must match annotations[") + kTopologyHints + "] when both are specified");
  }
}

}  // namespace

void CheckService(const JsonTree* old, const JsonTree& service, FieldCauses& causes) {
  const JsonTree& spec = SpecOrNothing(&service);
  const JsonTree& old_spec = SpecOrNothing(old);
  const ServiceFamilies fields = ServiceFamilies::Of(spec);
  const ServiceFamilies former = ServiceFamilies::Of(old_spec);
  CheckTopology(service, causes);
  CheckType(spec, fields, causes);
  CheckPorts(spec, fields.is_headless(), causes);
  CheckLabelMap(spec.Find("selector"), "spec.selector", causes);
  CheckAffinity(spec, causes);
  CheckServiceFamilies(old == nullptr ? nullptr : &former, fields, causes);
  CheckExternalIps(old_spec, spec, causes);
  CheckSourceRanges(old, service, causes);
  CheckBalancer(spec, causes);
  CheckTraffic(spec, causes);
}

void CheckServiceChange(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const ServiceFamilies fields = ServiceFamilies::Of(after);
  const bool ipv6 = !fields.families.empty() && fields.families.front() == "IPv6";
  CheckServiceFamiliesChange(ServiceFamilies::OfStored(before, ipv6), fields, causes);
  const JsonTree* const former = before.Find("loadBalancerClass");
  const JsonTree* const now = after.Find("loadBalancerClass");
  if (before.TextAt("type") == "LoadBalancer" && after.TextAt("type") == "LoadBalancer" &&
      (former == nullptr || now == nullptr ? former != now : *former != *now)) {
    causes.Invalid("spec.loadBalancerClass", now == nullptr ? "null" : now->ToJson(),
                   "may not change once set");
  }
  if (HasHealthPort(before) && HasHealthPort(after) &&
      FieldNumber(before, "healthCheckNodePort") != 0 &&
      FieldNumber(before, "healthCheckNodePort") != FieldNumber(after, "healthCheckNodePort")) {
    causes.Forbidden("spec.healthCheckNodePort", "field is immutable");
  }
}

}  // namespace kubexx::apiserver
