#include "kubexx/apiserver/endpoints/validation/network/endpoint_validation.h"

#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/address_checks.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxEndpoints = 1000;
constexpr std::size_t kMaxAddresses = 100;
constexpr std::size_t kMaxPorts = 20'000;
constexpr std::size_t kMaxZones = 8;

std::string_view TextIn(const JsonTree& element) {
  const std::string* const text = element.AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Returns whether it is an address at all.
bool CheckReachable(std::string_view text, const std::string& field, FieldCauses& causes) {
  const std::size_t before = causes.kept().size();
  CheckAddress(text, field, causes);
  const std::string bytes = BytesOfOldAddress(text);
  if (causes.kept().size() != before || bytes.empty()) {
    return false;
  }
  if (const std::string_view problem = UnreachableBecause(bytes); !problem.empty()) {
    causes.Invalid(field, QuotedJson(text), problem);
  }
  return true;
}

void CheckSliceAddresses(const JsonTree& endpoint, std::string_view type, const FieldPath& path,
                         FieldCauses& causes) {
  const std::size_t count = ListAt(endpoint, "addresses").size();
  if (count == 0) {
    causes.Required(path.Of("addresses"), "must contain at least 1 address");
  } else if (count > kMaxAddresses) {
    causes.TooMany(path.Of("addresses"), count, kMaxAddresses);
  }
  ForEachOf(endpoint, "addresses", path, [&](const JsonTree& one, const FieldPath& here) {
    const std::string_view text = TextIn(one);
    if (type == "FQDN") {
      if (text.find('.') == std::string_view::npos) {
        causes.Invalid(here.Text(), one.ToJson(), "must have at least two labels");
      } else {
        CheckDnsSubdomain(text.substr(0, text.size() - (text.ends_with('.') ? 1 : 0)), here.Text(),
                          causes);
      }
    } else if (type == "IPv4" || type == "IPv6") {
      const std::string bytes = BytesOfOldAddress(text);
      if (!bytes.empty() && (bytes.size() == 4) != (type == "IPv4")) {
        causes.Invalid(path.Of("addresses"), one.ToJson(),
                       "must be an " + std::string(type) + " address");
      }
      CheckReachable(text, here.Text(), causes);
    }
  });
}

void CheckHints(const JsonTree& hints, const FieldPath& path, FieldCauses& causes) {
  if (const std::size_t count = ListAt(hints, "forZones").size(); count > kMaxZones) {
    causes.TooMany(path.Of("forZones"), count, kMaxZones);
    return;
  }
  std::set<std::string_view> zones;
  ForEachOf(hints, "forZones", path, [&](const JsonTree& zone, const FieldPath& here) {
    const std::string_view name = zone.TextAt("name");
    if (!zones.insert(name).second) {
      causes.Duplicate(here.Of("name"), QuotedJson(name));
    }
    CheckLabelValue(name, here.Of("name"), causes);
  });
}

void CheckSlicePorts(const JsonTree& object, const FieldPath& at, FieldCauses& causes) {
  std::set<std::string_view> names;
  ForEachOf(object, "ports", at, [&](const JsonTree& port, const FieldPath& here) {
    const std::string_view name = port.TextAt("name");
    CheckDnsLabelAt(port, "name", here, causes);
    if (!names.insert(name).second) {
      causes.Duplicate(here.Of("name"), QuotedJson(name));
    }
    CheckChoice(port, "protocol", "SCTP|TCP|UDP", here, causes);
    if (GivenAt(port, "appProtocol") != nullptr) {
      CheckLabelKey(port.TextAt("appProtocol"), here.Of("appProtocol"), causes);
    }
  });
}

void CheckSubsetAddresses(const JsonTree& subset, const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view list : {"addresses", "notReadyAddresses"}) {
    ForEachOf(subset, list, path, [&](const JsonTree& address, const FieldPath& here) {
      CheckReachable(address.TextAt("ip"), here.Of("ip"), causes);
      CheckDnsLabelAt(address, "hostname", here, causes);
      CheckDnsSubdomainAt(address, "nodeName", here, causes);
    });
  }
}

}  // namespace

void CheckEndpointSlice(const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("");
  const std::string_view type = object.TextAt("addressType");
  if (NeedText(object, "addressType", at, causes)) {
    CheckChoice(object, "addressType", "FQDN|IPv4|IPv6", at, causes);
  }
  if (const std::size_t count = ListAt(object, "ports").size(); count > kMaxPorts) {
    causes.TooMany("ports", count, kMaxPorts);
  } else {
    CheckSlicePorts(object, at, causes);
  }
  if (const std::size_t count = ListAt(object, "endpoints").size(); count > kMaxEndpoints) {
    causes.TooMany("endpoints", count, kMaxEndpoints);
    return;
  }
  ForEachOf(object, "endpoints", at, [&](const JsonTree& endpoint, const FieldPath& here) {
    CheckSliceAddresses(endpoint, type, here, causes);
    if (GivenAt(endpoint, "nodeName") != nullptr) {
      CheckDnsSubdomain(endpoint.TextAt("nodeName"), here.Of("nodeName"), causes);
    }
    if (GivenAt(endpoint, "hostname") != nullptr) {
      CheckDnsLabel(endpoint.TextAt("hostname"), here.Of("hostname"), causes);
    }
    IfGiven(endpoint, "hints", here, [&](const JsonTree& hints, const FieldPath& of_hints) {
      CheckHints(hints, of_hints, causes);
    });
  });
}

void CheckEndpoints(const JsonTree& object, FieldCauses& causes) {
  ForEachOf(object, "subsets", FieldPath(""), [&](const JsonTree& subset, const FieldPath& here) {
    if (ListAt(subset, "addresses").empty() && ListAt(subset, "notReadyAddresses").empty()) {
      causes.Required(here.Text(), "must specify `addresses` or `notReadyAddresses`");
    }
    CheckSubsetAddresses(subset, here, causes);
    const bool several = ListAt(subset, "ports").size() > 1;
    ForEachOf(subset, "ports", here, [&](const JsonTree& port, const FieldPath& of_port) {
      if (several) {
        NeedText(port, "name", of_port, causes);
      }
      CheckDnsLabelAt(port, "name", of_port, causes);
      CheckPortNumber(IntAt(port, "port").value_or(0), of_port.Of("port"), causes);
      CheckChoice(port, "protocol", "SCTP|TCP|UDP", of_port, causes);
    });
  });
}

}  // namespace kubexx::apiserver
