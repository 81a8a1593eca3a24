#include "kubexx/apiserver/endpoints/validation/workloads/workload_validation.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/update_strategies.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kPodTemplatePath = "spec.template";

void AddMismatch(const JsonTree* labels, FieldCauses& causes) {
  causes.Invalid("spec.template.metadata.labels", JsonOrNull(labels),
                 "`selector` does not match template `labels`");
}

/// How much kube-apiserver reports about a selector that is invalid. It reports less about that of
/// a DaemonSet.
enum class Tells : bool { kMismatch, kAll };

void CheckSelector(Tells tells, const JsonTree& spec, FieldCauses& causes) {
  const bool tells_all = tells == Tells::kAll;
  const JsonTree* const selector = spec.Find("selector");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  // In the canonical form, a selector that was left out is an empty one, and an empty one is
  // refused, too.
  const bool given = selector != nullptr && selector->size() > 0;
  if (!given && tells_all) {
    causes.Required("spec.selector");
  }
  FieldCauses problems;
  CheckLabelSelector(selector, "spec.selector", problems);
  if (!problems.empty()) {
    causes.AddAll(std::move(problems).Take());
    if (tells_all) {
      causes.Invalid("spec.selector", selector->ToJson(), "invalid label selector");
    }
  } else if (!given || !MatchesSelector(*selector, LabelMapOf(labels))) {
    AddMismatch(labels, causes);
  }
}

/// Checks a template of pods that have to run all the time.
void CheckLastingPods(const JsonTree& spec, std::span<const std::string_view> more_volumes,
                      FieldCauses& causes) {
  const JsonTree* const pod = spec.At({"template", "spec"});
  CheckPodTemplate(spec.Find("template"), std::string(kPodTemplatePath), more_volumes, causes);
  if (pod == nullptr) {
    return;
  }
  if (const std::string_view policy = pod->TextAt("restartPolicy");
      !policy.empty() && policy != "Always") {
    AddNotSupported(policy, "Always", "spec.template.spec.restartPolicy", causes);
  }
  if (GivenAt(*pod, "activeDeadlineSeconds") != nullptr) {
    causes.Forbidden("spec.template.spec.activeDeadlineSeconds",
                     "pods that are to run all the time have none");
  }
}

/// The names of a StatefulSet's claims are names of volumes of its pods.
void CheckClaimNames(const JsonTree& spec, FieldCauses& causes) {
  std::set<std::string_view> names;
  for (const JsonTree& claim : ListAt(spec, "volumeClaimTemplates")) {
    names.insert(PartAt(claim, "metadata").TextAt("name"));
  }
  const FieldPath volumes("spec.template.spec.volumes");
  std::size_t index = 0;
  for (const std::string_view name : names) {
    const FieldPath here = volumes.Element(index++);
    if (name.empty()) {
      causes.Required(here.Of("name"));
      causes.Required(here.Of("persistentVolumeClaim.claimName"));
    } else {
      CheckDnsLabel(name, here.Of("name"), causes);
    }
  }
}

/// Checks the fields that only a StatefulSet has.
void CheckStatefulParts(bool is_new, const JsonTree& spec, const FieldPath& at,
                        FieldCauses& causes) {
  if (const std::string_view policy = spec.TextAt("podManagementPolicy");
      !policy.empty() && !IsAmong(policy, "OrderedReady|Parallel")) {
    causes.Invalid(at.Of("podManagementPolicy"), QuotedJson(policy),
                   "must be 'OrderedReady' or 'Parallel'");
  }
  IfGiven(spec, "persistentVolumeClaimRetentionPolicy", at,
          [&](const JsonTree& policy, const FieldPath& here) {
            CheckChoice(policy, "whenDeleted", "Retain|Delete", here, causes);
            CheckChoice(policy, "whenScaled", "Retain|Delete", here, causes);
          });
  IfGiven(spec, "ordinals", at, [&](const JsonTree& ordinals, const FieldPath& here) {
    CheckLeast(ordinals, "start", 0, here, causes);
  });
  if (!is_new) {
    return;
  }
  CheckDnsLabelAt(spec, "serviceName", at, causes);
  CheckClaimNames(spec, causes);
  ForEachOf(spec, "volumeClaimTemplates", at, [&](const JsonTree& claim, const FieldPath& here) {
    CheckClaimAt(PartAt(claim, "spec"), here.Member("spec"), causes);
  });
}

}  // namespace

void CheckDeployment(const JsonTree& spec, FieldCauses& causes) {
  CheckLeast(spec, "replicas", 0, FieldPath("spec"), causes);
  CheckDeploymentStrategy(spec, causes);
  CheckSelector(Tells::kAll, spec, causes);
  CheckLastingPods(spec, {}, causes);
}

void CheckReplicaSet(const JsonTree& spec, FieldCauses& causes) {
  CheckLeast(spec, "replicas", 0, FieldPath("spec"), causes);
  CheckReplicaSetStrategy(spec, causes);
  CheckSelector(Tells::kAll, spec, causes);
  CheckLastingPods(spec, {}, causes);
}

void CheckDaemonSet(const JsonTree& spec, FieldCauses& causes) {
  CheckDaemonSetStrategy(spec, causes);
  CheckSelector(Tells::kMismatch, spec, causes);
  CheckLastingPods(spec, {}, causes);
}

void CheckStatefulSet(bool is_new, const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  CheckLeast(spec, "replicas", 0, at, causes);
  CheckStatefulSetStrategy(spec, causes);
  CheckSelector(Tells::kAll, spec, causes);
  CheckStatefulParts(is_new, spec, at, causes);
  std::vector<std::string_view> claims;
  for (const JsonTree& claim : ListAt(spec, "volumeClaimTemplates")) {
    claims.push_back(PartAt(claim, "metadata").TextAt("name"));
  }
  CheckLastingPods(spec, claims, causes);
}

void CheckReplicationController(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  CheckLeast(spec, "replicas", 0, at, causes);
  CheckLeast(spec, "minReadySeconds", 0, at, causes);
  const JsonTree* const selector = spec.Find("selector");
  if (selector == nullptr || selector->size() == 0) {
    causes.Required("spec.selector");
  }
  if (spec.Find("template") == nullptr) {
    causes.Required(std::string(kPodTemplatePath));
    return;
  }
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (!apimachinery::LabelSelector::FromMap(LabelMapOf(selector)).Matches(LabelMapOf(labels))) {
    AddMismatch(labels, causes);
  }
  CheckLastingPods(spec, {}, causes);
}

}  // namespace kubexx::apiserver
