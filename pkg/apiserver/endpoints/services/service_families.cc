#include "kubexx/apiserver/endpoints/services/service_families.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr const char* kAddresses = "spec.clusterIPs";
constexpr const char* kFamilies = "spec.ipFamilies";
constexpr const char* kPolicy = "spec.ipFamilyPolicy";
constexpr const char* kSingle = "SingleStack";
constexpr const char* kPrefer = "PreferDualStack";
constexpr const char* kRequire = "RequireDualStack";
constexpr const char* kIpv4 = "IPv4";
constexpr const char* kIpv6 = "IPv6";

std::string Indexed(const char* field, std::size_t index) {
  return std::string(field) + "[" + std::to_string(index) + "]";
}

std::string FamilyText(std::string_view text) { return JsonTree(text).ToJson(); }

JsonTree ListOfTexts(const std::vector<std::string>& texts) {
  JsonTree list = JsonTree::Array();
  for (const std::string& text : texts) {
    list.Append(text);
  }
  return list;
}

std::string TextOfList(const std::vector<std::string>& texts) {
  return texts.empty() ? "null" : ListOfTexts(texts).ToJson();
}

bool IsIpv6(std::string_view address) { return BytesOfAddress(address).size() > 4; }
std::string FamilyOf(std::string_view address) { return IsIpv6(address) ? kIpv6 : kIpv4; }
std::string OtherFamily(std::string_view family) { return family == kIpv4 ? kIpv6 : kIpv4; }

void SetList(JsonTree& spec, const char* member, const std::vector<std::string>& texts) {
  if (texts.empty()) {
    spec.Erase(member);
  } else {
    spec[member] = ListOfTexts(texts);
  }
}

void SetText(JsonTree& spec, const char* member, const std::string& text) {
  if (text.empty()) {
    spec.Erase(member);
  } else {
    spec[member] = text;
  }
}

/// Adds what is wrong with single addresses. Returns whether there is such a fault.
bool CheckAddresses(const ServiceFamilies* old, const ServiceFamilies& fields,
                    FieldCauses& causes) {
  bool bad = false;
  for (std::size_t i = 0; i < fields.cluster_ips.size(); ++i) {
    const std::string& address = fields.cluster_ips[i];
    if (i == 0 && address == "None") {
      if (fields.cluster_ips.size() > 1) {
        bad = true;
        causes.Invalid(kAddresses, fields.AddressesText(),
                       "'None' must be the first and only value");
      }
      continue;
    }
    if (old != nullptr && std::ranges::find(old->cluster_ips, address) != old->cluster_ips.end()) {
      continue;
    }
    if (const std::string problem = AddressProblem(address); !problem.empty()) {
      bad = true;
      causes.Invalid(Indexed(kAddresses, i), FamilyText(address), problem);
    }
  }
  return bad;
}

/// Checks that an update that removes one of two families names what it removes.
void CheckReduced(const ServiceFamilies& old, ServiceFamilies& fields, FieldCauses& causes) {
  const auto reduced = [](const auto& before, const auto& after) {
    return !after.empty() && after.size() < before.size();
  };
  if (fields.policy == kSingle) {
    if (fields.cluster_ips == old.cluster_ips && fields.cluster_ips.size() > 1) {
      fields.cluster_ips.resize(1);
    }
    if (fields.families == old.families && fields.families.size() > 1) {
      fields.families.resize(1);
    }
    return;
  }
  if (reduced(old.cluster_ips, fields.cluster_ips)) {
    causes.Invalid(kPolicy, FamilyText(fields.policy),
                   "must be 'SingleStack' to release the secondary cluster IP");
  }
  if (reduced(old.families, fields.families)) {
    causes.Invalid(kPolicy, FamilyText(fields.policy),
                   "must be 'SingleStack' to release the secondary IP family");
  }
}

/// Checks whether the policy allows two families when two are named, and whether the addresses fit
/// the families.
void CheckNamed(const ServiceRanges& ranges, ServiceFamilies& fields, FieldCauses& causes) {
  if (fields.policy == kSingle) {
    for (const auto& [list, what] : {std::pair(&fields.cluster_ips, "cluster IPs"),
                                     std::pair(&fields.families, "IP families")}) {
      if (list->size() == 2) {
        causes.Invalid(
            kPolicy, FamilyText(fields.policy),
            std::string("must be 'RequireDualStack' or 'PreferDualStack' when multiple ") + what +
                " are specified");
      }
    }
  }
  for (std::size_t i = 0; i < fields.cluster_ips.size() && fields.cluster_ips[i] != "None"; ++i) {
    if (i < fields.families.size()) {
      continue;
    }
    const std::string& address = fields.cluster_ips[i];
    if (ranges.OfFamily(IsIpv6(address)) == nullptr) {
      causes.Invalid(Indexed(kAddresses, i), fields.AddressesText(),
                     FamilyOf(address) + " is not configured on this cluster");
    } else {
      fields.families.push_back(FamilyOf(address));
    }
  }
}

/// Without a selector, somebody else provides the endpoints, and they may be of any family.
void ChooseOfHeadless(const std::string& first, ServiceFamilies& fields) {
  if (fields.families.empty()) {
    fields.families.push_back(first);
  }
  if (fields.families.size() < 2 && fields.policy != kSingle) {
    fields.families.push_back(OtherFamily(fields.families.front()));
  }
}

void CheckThere(const ServiceRanges& ranges, const ServiceFamilies& fields, FieldCauses& causes) {
  if (fields.policy == kRequire && ranges.addresses.size() < 2) {
    causes.Invalid(kPolicy, FamilyText(fields.policy),
                   "this cluster is not configured for dual-stack services");
  }
  for (std::size_t i = 0; i < fields.families.size(); ++i) {
    if (ranges.OfFamily(fields.families[i] == kIpv6) == nullptr) {
      causes.Invalid(Indexed(kFamilies, i), FamilyText(fields.families[i]),
                     "not configured on this cluster");
    }
  }
}

/// Checks one of the two lists in an update.
void CheckListChange(const char* field, const std::vector<std::string>& before,
                     const std::vector<std::string>& after, const ServiceFamilies& fields,
                     FieldCauses& causes) {
  constexpr const char* kMayNot = "may not change once set";
  if (before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) {
        causes.Invalid(Indexed(field, field == kFamilies ? 0 : i), TextOfList(after), kMayNot);
      }
    }
    return;
  }
  if (!before.empty() && after.empty()) {
    causes.Invalid(Indexed(field, 0), "null", "the first one can not be unset");
  } else if (!before.empty() && before.front() != after.front()) {
    causes.Invalid(Indexed(field, 0), TextOfList(after), kMayNot);
  }
  if (before.size() > after.size() && after.size() == 1 && fields.policy != kSingle) {
    causes.Invalid(kPolicy, FamilyText(fields.policy),
                   "must be set to 'SingleStack' when releasing the secondary one");
  }
}

}  // namespace

ServiceFamilies ServiceFamilies::Of(const JsonTree& spec) {
  const JsonTree* const selector = spec.Find("selector");
  return {.type = std::string(spec.TextAt("type")),
          .cluster_ip = std::string(spec.TextAt("clusterIP")),
          .cluster_ips = StringsAt(spec, "clusterIPs"),
          .families = StringsAt(spec, "ipFamilies"),
          .policy = std::string(spec.TextAt("ipFamilyPolicy")),
          .has_selector = selector != nullptr && selector->size() > 0};
}

ServiceFamilies ServiceFamilies::OfStored(const JsonTree& spec, bool ipv6) {
  ServiceFamilies fields = Of(spec);
  MatchServiceAddresses(nullptr, fields);
  if (fields.is_name() || !fields.families.empty()) {
    return fields;
  }
  const std::string first = ipv6 ? kIpv6 : kIpv4;
  if (fields.cluster_ip == "None") {
    fields.families = fields.has_selector ? std::vector<std::string>{first}
                                          : std::vector<std::string>{first, OtherFamily(first)};
  } else {
    for (const std::string& address : fields.cluster_ips) {
      fields.families.push_back(FamilyOf(address));
    }
  }
  if (!fields.families.empty()) {
    fields.policy = fields.families.size() == 1 ? kSingle : kRequire;
  }
  return fields;
}

void ServiceFamilies::WriteTo(JsonTree& spec) const {
  SetText(spec, "clusterIP", cluster_ip);
  SetList(spec, "clusterIPs", cluster_ips);
  SetList(spec, "ipFamilies", families);
  SetText(spec, "ipFamilyPolicy", policy);
}

std::string ServiceFamilies::AddressesText() const { return TextOfList(cluster_ips); }

void CheckServiceFamilies(const ServiceFamilies* old, const ServiceFamilies& fields,
                          FieldCauses& causes) {
  if (fields.is_name()) {
    return;
  }
  if (!fields.cluster_ip.empty() && fields.cluster_ips.empty()) {
    causes.Required(kAddresses);
  } else if (!fields.cluster_ip.empty() && fields.cluster_ips.front() != fields.cluster_ip) {
    causes.Invalid(kAddresses, fields.AddressesText(), "first value must match `clusterIP`");
  } else if (fields.cluster_ip.empty() && !fields.cluster_ips.empty()) {
    causes.Invalid(kAddresses, fields.AddressesText(),
                   "must be empty when `clusterIP` is not specified");
  }
  std::set<std::string_view> families;
  for (std::size_t i = 0; i < fields.families.size(); ++i) {
    const std::string& family = fields.families[i];
    if (family != kIpv4 && family != kIpv6) {
      causes.NotSupported(Indexed(kFamilies, i), FamilyText(family), R"("IPv4", "IPv6")");
    }
    if (!families.insert(family).second) {
      causes.Duplicate(Indexed(kFamilies, i), FamilyText(family));
    }
  }
  if (!fields.policy.empty() && fields.policy != kSingle && fields.policy != kPrefer &&
      fields.policy != kRequire) {
    causes.NotSupported(kPolicy, FamilyText(fields.policy),
                        R"("PreferDualStack", "RequireDualStack", "SingleStack")");
  }
  const bool bad = CheckAddresses(old, fields, causes);
  if (fields.cluster_ips.size() > 2) {
    causes.Invalid(kAddresses, fields.AddressesText(), "may only hold up to 2 values");
  }
  if (bad) {
    return;
  }
  if (fields.cluster_ips.size() > 1 &&
      (fields.cluster_ips.size() > 2 ||
       IsIpv6(fields.cluster_ips.front()) == IsIpv6(fields.cluster_ips.back()))) {
    causes.Invalid(kAddresses, fields.AddressesText(),
                   "may specify no more than one IP for each IP family");
  }
  const std::size_t both = std::min(fields.cluster_ips.size(), fields.families.size());
  for (std::size_t i = 0; i < both && !fields.is_headless(); ++i) {
    if ((fields.families[i] == kIpv4 || fields.families[i] == kIpv6) &&
        fields.families[i] != FamilyOf(fields.cluster_ips[i])) {
      causes.Invalid(Indexed(kAddresses, i), FamilyText(fields.cluster_ips[i]),
                     "expected an " + fields.families[i] + " value as indicated by `ipFamilies[" +
                         std::to_string(i) + "]`");
    }
  }
}

void MatchServiceAddresses(const ServiceFamilies* old, ServiceFamilies& fields) {
  if (old == nullptr) {
    if (!fields.cluster_ip.empty() && fields.cluster_ips.empty()) {
      fields.cluster_ips.push_back(fields.cluster_ip);
    }
    return;
  }
  if (!old->is_name() && !fields.is_name()) {
    if (fields.cluster_ip.empty()) {
      fields.cluster_ip = old->cluster_ip;
    }
    if (fields.cluster_ips.empty()) {
      fields.cluster_ips = old->cluster_ips;
    }
  }
  if (old->cluster_ip == fields.cluster_ip) {
    if (fields.cluster_ips.empty()) {
      fields.cluster_ips = old->cluster_ips;
    }
  } else if (old->cluster_ips == fields.cluster_ips) {
    fields.cluster_ips.clear();
    if (!fields.cluster_ip.empty()) {
      fields.cluster_ips.push_back(fields.cluster_ip);
    }
  }
}

bool KeepsPreferredFamilies(const ServiceFamilies* old, const ServiceFamilies& fields) {
  return old != nullptr && fields.policy == kPrefer && old->type == fields.type &&
         !fields.is_name() && (old->policy.empty() || old->policy == kPrefer) &&
         old->cluster_ips == fields.cluster_ips && old->families == fields.families;
}

void ChooseServiceFamilies(const ServiceRanges& ranges, const ServiceFamilies* old,
                           ServiceFamilies& fields, FieldCauses& causes) {
  if (fields.is_name() || KeepsPreferredFamilies(old, fields)) {
    return;
  }
  const bool is_open = fields.cluster_ip == "None" && !fields.has_selector;
  if (fields.policy.empty()) {
    fields.policy = old != nullptr && !old->policy.empty() ? old->policy
                    : is_open                              ? kRequire
                                                           : kSingle;
  }
  CheckServiceFamilies(old, fields, causes);
  if (!causes.empty()) {
    return;
  }
  if (old != nullptr) {
    CheckReduced(*old, fields, causes);
  }
  CheckNamed(ranges, fields, causes);
  if (!causes.empty()) {
    return;
  }
  const std::string first = ranges.addresses.front().is_ipv6() ? kIpv6 : kIpv4;
  if (is_open) {
    ChooseOfHeadless(first, fields);
    return;
  }
  CheckThere(ranges, fields, causes);
  if (!causes.empty()) {
    return;
  }
  if (fields.families.empty()) {
    fields.families.push_back(first);
  }
  if (fields.policy != kSingle && fields.families.size() == 1 && ranges.addresses.size() == 2) {
    fields.families.push_back(OtherFamily(fields.families.front()));
  }
}

void CheckServiceFamiliesChange(const ServiceFamilies& old, const ServiceFamilies& fields,
                                FieldCauses& causes) {
  if (old.is_name() || fields.is_name()) {
    return;
  }
  if (old.is_headless() && fields.is_headless()) {
    return;
  }
  CheckListChange(kAddresses, old.cluster_ips, fields.cluster_ips, fields, causes);
  if (old.is_headless() == fields.is_headless()) {
    CheckListChange(kFamilies, old.families, fields.families, fields, causes);
  }
}

}  // namespace kubexx::apiserver
