#include "kubexx/apiserver/endpoints/validation/pods/resource_validation.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;
using ClaimNames = std::set<std::string, std::less<>>;

enum class ResourceOwner : std::uint8_t { kContainer, kPod };

/// A name without a domain that is known in some place.
struct KnownResource {
  std::string_view name;
  bool of_containers = false;
  bool counted = false;   ///< only whole ones can be had
  bool of_quotas = true;  ///< a namespace may have a limit for it
};

constexpr KnownResource kKnownResources[] = {{.name = "cpu", .of_containers = true},
                                             {.name = "memory", .of_containers = true},
                                             {.name = "ephemeral-storage", .of_containers = true},
                                             {.name = "requests.cpu"},
                                             {.name = "requests.memory"},
                                             {.name = "requests.ephemeral-storage"},
                                             {.name = "limits.cpu"},
                                             {.name = "limits.memory"},
                                             {.name = "limits.ephemeral-storage"},
                                             {.name = "pods", .counted = true},
                                             {.name = "resourcequotas", .counted = true},
                                             {.name = "services", .counted = true},
                                             {.name = "replicationcontrollers", .counted = true},
                                             {.name = "secrets", .counted = true},
                                             {.name = "configmaps", .counted = true},
                                             {.name = "persistentvolumeclaims", .counted = true},
                                             {.name = "storage", .of_quotas = false},
                                             {.name = "requests.storage"},
                                             {.name = "services.nodeports", .counted = true},
                                             {.name = "services.loadbalancers", .counted = true}};

/// Null for a name that is not known.
const KnownResource* KnownOf(std::string_view name) {
  const auto* const found = std::ranges::find(kKnownResources, name, &KnownResource::name);
  return found == std::end(kKnownResources) ? nullptr : found;
}

std::string OfText(std::string_view text) { return JsonTree(text).ToJson(); }

bool HasDomain(std::string_view resource) { return resource.find('/') != std::string_view::npos; }

/// Whether the name, which is valid and has a domain, may be that of an extended resource.
bool IsExtended(std::string_view resource) {
  return HasDomain(resource) && resource.find("kubernetes.io/") == std::string_view::npos &&
         !resource.starts_with("requests.") &&
         apimachinery::IsValidLabelKey("requests." + std::string(resource));
}

/// Whether the amount has to be a whole number.
bool IsIntegral(std::string_view resource) {
  const KnownResource* const known = KnownOf(resource);
  return known != nullptr ? known->counted : IsExtended(resource);
}

/// Whether an amount has no fraction. An amount whose thousandths are too many to count has none,
/// unless it is written in smaller units.
bool IsWhole(const Quantity& amount) {
  const std::int64_t milli = amount.MilliValue();
  if (milli != std::numeric_limits<std::int64_t>::max() &&
      milli != std::numeric_limits<std::int64_t>::min()) {
    return milli % 1000 == 0;
  }
  const std::string& text = amount.ToString();
  return text.find_first_of("mun") == std::string::npos && text.find("e-") == std::string::npos;
}

/// Checks whether the name has a permitted form: a known name, a name with a domain, or huge pages.
bool CheckNameForm(std::string_view name, const std::string& field, FieldCauses& causes) {
  const bool meant = HasDomain(name) || KnownOf(name) != nullptr || IsHugePages(name) ||
                     name.starts_with("requests.hugepages-");
  CheckLabelKey(name, field, causes);
  if (!meant && apimachinery::IsValidLabelKey(name)) {
    causes.Invalid(field, OfText(name), "must be a standard resource or have a domain");
  }
  return meant && apimachinery::IsValidLabelKey(name);
}

void CheckResourceName(ResourceOwner of, std::string_view name, const std::string& field,
                       FieldCauses& causes) {
  const std::string value = OfText(name);
  const bool good = CheckNameForm(name, field, causes);
  if (of == ResourceOwner::kPod) {
    if (good && !IsOfPods(name)) {
      causes.NotSupported(field, value, R"("cpu", "hugepages-", "memory")");
    }
  } else if (!HasDomain(name)) {
    const KnownResource* const known = KnownOf(name);
    if ((known == nullptr || !known->of_containers) && !IsHugePages(name)) {
      causes.Invalid(field, value, "must be a standard resource of containers");
    }
  } else if (!IsExtended(name) && name.find("kubernetes.io/") == std::string_view::npos) {
    causes.Invalid(field, value, "is no name of an extended resource");
  }
}

/// Whether an amount is a multiple of the page size in the resource's name.
bool IsWholePages(std::string_view resource, const Quantity& amount) {
  const auto size = Quantity::Parse(resource.substr(resource.find('-') + 1));
  return size && size->MilliValue() > 0 && size->MilliValue() % 1000 == 0 &&
         amount.Value() % size->Value() == 0;
}

void CheckAmount(std::string_view resource, const Quantity& amount, const std::string& field,
                 FieldCauses& causes) {
  if (Quantity::Compare(amount, Quantity()) < 0) {
    causes.Invalid(field, OfText(amount.ToString()), "must be greater than or equal to 0");
  }
  if (IsIntegral(resource) && !IsWhole(amount)) {
    causes.Invalid(field, OfText(amount.ToString()), "must be an integer");
  }
  if (IsHugePages(resource) && !IsWholePages(resource, amount)) {
    causes.Invalid(field, OfText(amount.ToString()),
                   "is not a positive multiple of the size of a page");
  }
}

/// Checks a request together with its limit, if there is one.
void CheckRequest(std::string_view resource, const Quantity& amount, const ResourceAmounts& limits,
                  const std::string& path, FieldCauses& causes) {
  const bool flexible = MayBeOvercommitted(resource);
  const auto limit = limits.find(resource);
  if (limit == limits.end()) {
    if (!flexible) {
      causes.Required(path + ".limits", "what cannot be overcommitted needs a limit");
    }
    return;
  }
  const auto order = Quantity::Compare(amount, limit->second);
  if (order > 0 || (order < 0 && !flexible)) {
    causes.Invalid(path + ".requests", OfText(amount.ToString()),
                   std::string(flexible ? "must be at most the " : "must be equal to the ") +
                       std::string(resource) + " limit of " + limit->second.ToString());
  }
}

void CheckClaims(const JsonTree& resources, const ClaimNames& of_pod, const std::string& path,
                 FieldCauses& causes) {
  const JsonTree* const claims = resources.Find("claims");
  const std::size_t count = claims == nullptr ? 0 : claims->elements().size();
  ClaimNames seen;   // the names, and the names with a request of theirs
  ClaimNames parts;  // the names of which a request was seen
  for (std::size_t i = 0; i < count; ++i) {
    const std::string field = path + ".claims[" + std::to_string(i) + "]";
    const std::string name(claims->elements()[i].TextAt("name"));
    const std::string request(claims->elements()[i].TextAt("request"));
    if (name.empty()) {
      causes.Required(field);
      continue;
    }
    const std::string key = request.empty() ? name : name + "/" + request;
    if (!request.empty() && !apimachinery::IsDnsLabel(request)) {
      causes.Invalid(field + ".request", OfText(request), "must be a DNS label");
    }
    if (seen.contains(name) || seen.contains(key) || (request.empty() && parts.contains(name))) {
      causes.Duplicate(field, OfText(seen.contains(name) ? name : key));
    }
    seen.insert(key);
    if (!request.empty()) {
      parts.insert(name);
    }
    if (!of_pod.contains(name)) {
      causes.NotFound(field, OfText(name), "the pod's spec.resourceClaims has no such name");
    }
  }
}

void CheckResources(ResourceOwner of, const JsonTree& resources, const ClaimNames& claims,
                    const std::string& path, FieldCauses& causes) {
  const ResourceAmounts limits = AmountsOf(resources.Find("limits"));
  const ResourceAmounts requests = AmountsOf(resources.Find("requests"));
  bool has_pages = false;
  bool has_others = false;
  for (const auto& [list, amounts] :
       {std::pair(".limits[", &limits), std::pair(".requests[", &requests)}) {
    for (const auto& [name, amount] : *amounts) {
      const std::string field = path + list + name + "]";
      CheckResourceName(of, name, field, causes);
      CheckAmount(name, amount, field, causes);
      has_pages = has_pages || IsHugePages(name);
      has_others = has_others || name == "cpu" || name == "memory";
    }
  }
  for (const auto& [name, amount] : requests) {
    CheckRequest(name, amount, limits, path, causes);
  }
  if (has_pages && !has_others) {
    causes.Forbidden(path, "huge pages need cpu or memory besides");
  }
  CheckClaims(resources, claims, path, causes);
}

/// Checks that the pod's own resources are enough for those of its containers.
void CheckContainersFit(const JsonTree& pod_spec, const std::string& path, FieldCauses& causes) {
  const JsonTree& resources = *pod_spec.Find("resources");
  const ResourceAmounts limits = AmountsOf(resources.Find("limits"));
  const ResourceAmounts requests = AmountsOf(resources.Find("requests"));
  const auto compare = [&](const char* list, const ResourceAmounts& of_pod, bool pages_only) {
    for (const auto& [name, sum] : SumOfContainers(pod_spec, list)) {
      const auto found = of_pod.find(name);
      if (found != of_pod.end() && (!pages_only || IsHugePages(name)) &&
          Quantity::Compare(sum, found->second) > 0) {
        causes.Invalid(path + "." + list + "[" + name + "]", OfText(found->second.ToString()),
                       "must be at least what the containers have together, " + sum.ToString());
      }
    }
  };
  compare("requests", requests, false);
  compare("limits", limits, true);
  const std::span<const JsonTree> containers = ElementsAt(pod_spec, {"containers"});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    for (const auto& [name, amount] : AmountsOf(containers[i].At({"resources", "limits"}))) {
      const auto found = limits.find(name);
      if (found != limits.end() && Quantity::Compare(amount, found->second) > 0) {
        causes.Invalid(path + ".containers[" + std::to_string(i) + "][" + name + "].limits",
                       OfText(amount.ToString()),
                       "must be at most the pod's limit of " + found->second.ToString());
      }
    }
  }
}

}  // namespace

bool IsQuotaResource(std::string_view name) {
  const KnownResource* const known = KnownOf(name);
  return known != nullptr
             ? known->of_quotas
             : name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
}

void CheckQuotaResource(std::string_view name, const Quantity& amount, const std::string& field,
                        FieldCauses& causes) {
  CheckNameForm(name, field, causes);
  if (!HasDomain(name) && !IsQuotaResource(name)) {
    causes.Invalid(field, OfText(name), "must be a standard resource for quota");
  }
  if (Quantity::Compare(amount, Quantity()) < 0) {
    causes.Invalid(field, OfText(amount.ToString()), "must be greater than or equal to 0");
  }
  if (IsIntegral(name) && !IsWhole(amount)) {
    causes.Invalid(field, OfText(amount.ToString()), "must be an integer");
  }
}

void CheckLimitedResource(std::string_view name, bool of_containers, const std::string& field,
                          FieldCauses& causes) {
  if (of_containers) {
    CheckResourceName(ResourceOwner::kContainer, name, field, causes);
  } else {
    CheckNameForm(name, field, causes);
  }
}

void CheckPodResources(const JsonTree& pod_spec, const std::string& path, FieldCauses& causes) {
  ClaimNames claims;
  for (const JsonTree& claim : ElementsAt(pod_spec, {"resourceClaims"})) {
    claims.emplace(claim.TextAt("name"));
  }
  for (const char* const list : {"initContainers", "containers"}) {
    const std::span<const JsonTree> containers = ElementsAt(pod_spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (const JsonTree* const resources = containers[i].Find("resources")) {
        CheckResources(ResourceOwner::kContainer, *resources, claims,
                       path + "." + list + "[" + std::to_string(i) + "].resources", causes);
      }
    }
  }
  const JsonTree* const resources = pod_spec.Find("resources");
  if (resources == nullptr || resources->IsNull()) {
    return;
  }
  const std::string field = path + ".resources";
  if (StringAt(pod_spec, {"os", "name"}) == "windows") {
    causes.Forbidden(field, "a pod of Windows has none");
    return;
  }
  if (resources->Find("claims") != nullptr) {
    causes.Forbidden(field + ".claims", "a pod itself has none");
  }
  CheckResources(ResourceOwner::kPod, *resources, claims, field, causes);
  CheckContainersFit(pod_spec, field, causes);
}

}  // namespace kubexx::apiserver
