#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"

#include <algorithm>
#include <set>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/address_checks.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/container_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/resource_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/scheduling_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/security_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/volume_sources.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxNameservers = 3;
constexpr std::size_t kMaxSearches = 32;
constexpr std::size_t kMaxSearchBytes = 2048;
constexpr std::size_t kMaxHostBytes = 64;

std::string_view ElementText(const JsonTree& element) {
  const std::string* const text = element.AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Checks the volumes. Returns the valid ones, which containers may use.
PodVolumes CheckVolumes(const JsonTree& spec, std::span<const std::string_view> more_volumes,
                        const FieldPath& path, FieldCauses& causes) {
  static const JsonTree kClaim =
      JsonTree::Object({{.key = "persistentVolumeClaim", .value = JsonTree::Object()}});
  const std::set<std::string_view> of_owner(more_volumes.begin(), more_volumes.end());
  PodVolumes volumes;
  ForEachOf(spec, "volumes", path, [&](const JsonTree& volume, const FieldPath& here) {
    const std::string_view name = volume.TextAt("name");
    if (of_owner.contains(name)) {
      return;  // the owner's volume replaces it
    }
    FieldCauses problems;
    CheckVolumeSource(VolumeOwner::kPod, volume, here, problems);
    if (name.empty()) {
      problems.Required(here.Of("name"));
    } else if (!apimachinery::IsDnsLabel(name)) {
      CheckDnsLabel(name, here.Of("name"), problems);
    }
    if (volumes.contains(name)) {
      problems.Duplicate(here.Of("name"), QuotedJson(name));
    }
    if (problems.empty()) {
      volumes.emplace(name, &volume);
    } else {
      causes.AddAll(std::move(problems).Take());
    }
  });
  for (const std::string_view name : more_volumes) {
    volumes.insert_or_assign(name, &kClaim);
  }
  return volumes;
}

/// Whether it has letters, digits, "-", "_", and dots in between.
bool IsSearch(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '_', 'a');
  return apimachinery::IsDnsSubdomain(plain);
}

void CheckSearches(const JsonTree& config, const FieldPath& path, FieldCauses& causes) {
  const std::span<const JsonTree> searches = ListAt(config, "searches");
  std::size_t bytes = searches.empty() ? 0 : searches.size() - 1;
  for (const JsonTree& search : searches) {
    bytes += ElementText(search).size();
  }
  if (searches.size() > kMaxSearches) {
    causes.Invalid(path.Of("searches"), config.Find("searches")->ToJson(),
                   "must not have more than 32 search paths");
  }
  if (bytes > kMaxSearchBytes) {
    causes.Invalid(path.Of("searches"), config.Find("searches")->ToJson(),
                   "must not have more than 2048 characters (including spaces) in the search list");
  }
  ForEachOf(config, "searches", path, [&](const JsonTree& search, const FieldPath& here) {
    std::string_view name = ElementText(search);
    if (name == ".") {
      return;
    }
    name.remove_suffix(name.ends_with('.') ? 1 : 0);
    if (!IsSearch(name)) {
      causes.Invalid(here.Text(), QuotedJson(name),
                     "must be a DNS subdomain, in which '_' may be, too");
    }
  });
}

void CheckDns(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const config = GivenAt(spec, "dnsConfig");
  const FieldPath at = path.Member("dnsConfig");
  if (spec.TextAt("dnsPolicy") == "None") {
    if (config == nullptr) {
      causes.Required(at.Text(), "must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if (ListAt(*config, "nameservers").empty()) {
      causes.Required(at.Of("nameservers"),
                      "must provide at least one DNS nameserver when `dnsPolicy` is None");
      return;
    }
  }
  if (config == nullptr) {
    return;
  }
  if (ListAt(*config, "nameservers").size() > kMaxNameservers) {
    causes.Invalid(at.Of("nameservers"), config->Find("nameservers")->ToJson(),
                   "must not have more than 3 nameservers");
  }
  ForEachOf(*config, "nameservers", at, [&](const JsonTree& server, const FieldPath& here) {
    CheckAddress(ElementText(server), here.Text(), causes);
  });
  CheckSearches(*config, at, causes);
  ForEachOf(*config, "options", at, [&](const JsonTree& option, const FieldPath& here) {
    if (option.TextAt("name").empty()) {
      causes.Required(here.Text(), "must not be empty");
    }
  });
}

void CheckHostAliases(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(spec, "hostAliases", path, [&](const JsonTree& alias, const FieldPath& here) {
    CheckAddress(alias.TextAt("ip"), here.Of("ip"), causes);
    ForEachOf(alias, "hostnames", here, [&](const JsonTree& name, const FieldPath& at) {
      CheckDnsSubdomain(ElementText(name), at.Text(), causes);
    });
  });
}

void CheckGateLists(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(spec, "readinessGates", path, [&](const JsonTree& gate, const FieldPath& here) {
    CheckLabelKey(gate.TextAt("conditionType"), here.Of("conditionType"), causes);
  });
  std::set<std::string_view> seen;
  ForEachOf(spec, "schedulingGates", path, [&](const JsonTree& gate, const FieldPath& here) {
    const std::string_view name = gate.TextAt("name");
    CheckLabelKey(name, here.Text(), causes);
    if (!seen.insert(name).second) {
      causes.Duplicate(here.Text(), QuotedJson(name));
    }
  });
}

void CheckResourceClaims(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  std::set<std::string_view> seen;
  ForEachOf(spec, "resourceClaims", path, [&](const JsonTree& claim, const FieldPath& here) {
    const std::string_view name = claim.TextAt("name");
    if (name.empty()) {
      causes.Required(here.Of("name"));
    } else if (!seen.insert(name).second) {
      causes.Duplicate(here.Of("name"), QuotedJson(name));
    } else {
      CheckDnsLabelAt(claim, "name", here, causes);
    }
    int sources = 0;
    for (const std::string_view member : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (GivenAt(claim, member) != nullptr) {
        ++sources;
        CheckDnsSubdomain(claim.TextAt(member), here.Of(member), causes);
      }
    }
    if (sources != 1) {
      causes.Invalid(here.Text(), claim.ToJson(),
                     "must have one of `resourceClaimName` and `resourceClaimTemplateName`");
    }
  });
}

/// With the network of the node, a port is the same in the container and on the node.
void CheckHostNetwork(const JsonTree& spec, PodKind kind, const FieldPath& path,
                      FieldCauses& causes) {
  if (!IsTrueAt(spec, "hostNetwork")) {
    return;
  }
  ForEachOf(spec, "containers", path, [&](const JsonTree& container, const FieldPath& here) {
    ForEachOf(container, "ports", here, [&](const JsonTree& port, const FieldPath& at) {
      const std::int64_t of_host = IntAt(port, "hostPort").value_or(0);
      if ((kind == PodKind::kPod || of_host != 0) &&
          of_host != IntAt(port, "containerPort").value_or(0)) {
        causes.Invalid(at.Of("hostPort"), std::to_string(of_host),
                       "must match `containerPort` when `hostNetwork` is true");
      }
    });
  });
}

void CheckNames(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view member :
       {"serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"}) {
    CheckDnsSubdomainAt(spec, member, path, causes);
  }
  CheckDnsLabelAt(spec, "hostname", path, causes);
  CheckDnsLabelAt(spec, "subdomain", path, causes);
  if (GivenAt(spec, "hostnameOverride") == nullptr) {
    return;
  }
  const std::string_view host = spec.TextAt("hostnameOverride");
  for (const std::string_view other : {"setHostnameAsFQDN", "hostNetwork"}) {
    if (IsTrueAt(spec, other)) {
      causes.Forbidden(path.Of("hostnameOverride"),
                       "may not be specified when " + std::string(other) + " is true");
    }
  }
  if (host.size() > kMaxHostBytes) {
    causes.TooLong(path.Of("hostnameOverride"), kMaxHostBytes);
  }
  CheckDnsSubdomain(host, path.Of("hostnameOverride"), causes);
}

/// Checks the resources that the pod takes in addition to its containers.
void CheckPodOverhead(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const FieldPath limits = path.Member("overhead.limits");
  for (const JsonTree::Member& one : PartAt(spec, "overhead").members()) {
    if (one.value.AsString() != nullptr && one.value.AsString()->starts_with('-')) {
      causes.Invalid(limits.Key(one.key), one.value.ToJson(), "must be greater than or equal to 0");
    }
  }
}

/// Checks what applies to pods but not to templates.
void CheckOfPod(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    ForEachOf(spec, list, path, [&](const JsonTree& container, const FieldPath& here) {
      const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
      const std::string_view image = container.TextAt("image");
      if (!image.empty() && (is_space(image.front()) || is_space(image.back()))) {
        causes.Invalid(here.Of("image"), QuotedJson(image),
                       "must not have leading or trailing whitespace");
      }
    });
  }
}

}  // namespace

void CheckPodSpec(const JsonTree& spec, PodKind kind, const std::string& path,
                  std::span<const std::string_view> more_volumes, FieldCauses& causes) {
  const FieldPath at(path);
  const PodVolumes volumes = CheckVolumes(spec, more_volumes, at, causes);
  CheckResourceClaims(spec, at, causes);
  CheckContainers(spec, volumes, at, causes);
  CheckPodResources(spec, path, causes);
  CheckHostNetwork(spec, kind, at, causes);
  for (const auto& [member, values] :
       {std::pair("restartPolicy", "Always|OnFailure|Never"),
        std::pair("dnsPolicy", "ClusterFirstWithHostNet|ClusterFirst|Default|None"),
        std::pair("preemptionPolicy", "PreemptLowerPriority|Never")}) {
    if (!spec.TextAt(member).empty()) {
      CheckChoice(spec, member, values, at, causes);
    }
  }
  CheckLabelMap(spec.Find("nodeSelector"), path + ".nodeSelector", causes);
  CheckPodSecurity(spec, at, causes);
  CheckScheduling(spec, at, causes);
  CheckDns(spec, at, causes);
  CheckGateLists(spec, at, causes);
  CheckNames(spec, at, causes);
  CheckRange(spec, "activeDeadlineSeconds", 1, kMaxInt32, at, causes);
  CheckHostAliases(spec, at, causes);
  CheckPodOverhead(spec, at, causes);
  CheckSystem(spec, at, causes);
  if (kind == PodKind::kPod) {
    CheckOfPod(spec, at, causes);
  }
}

void CheckPodTemplate(const JsonTree* pods, const std::string& path,
                      std::span<const std::string_view> more_volumes, FieldCauses& causes) {
  static const JsonTree kNone = JsonTree::Object();
  const JsonTree& spec = pods == nullptr ? kNone : PartAt(*pods, "spec");
  if (pods != nullptr) {
    CheckLabelMap(pods->At({"metadata", "labels"}), path + ".labels", causes);
    CheckAnnotationMap(pods->At({"metadata", "annotations"}), path + ".annotations", causes);
  }
  CheckPodSpec(spec, PodKind::kTemplate, path + ".spec", more_volumes, causes);
  if (!ListAt(spec, "ephemeralContainers").empty()) {
    causes.Forbidden(path + ".spec.ephemeralContainers",
                     "ephemeral containers not allowed in pod template");
  }
}

}  // namespace kubexx::apiserver
