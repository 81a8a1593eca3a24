#include "kubexx/apiserver/endpoints/workload_validation.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/endpoints/field_path.h"
#include "kubexx/apiserver/endpoints/pod_validation.h"
#include "kubexx/apiserver/endpoints/selector_validation.h"
#include "kubexx/apiserver/endpoints/update_strategies.h"
#include "kubexx/apiserver/endpoints/value_checks.h"
#include "kubexx/apiserver/endpoints/claim_validation.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kPodTemplatePath = "spec.template";

void AddMismatch(const JsonTree* labels, FieldCauses& causes) {
  causes.Invalid("spec.template.metadata.labels", labels == nullptr ? "null" : labels->ToJson(),
                 "`selector` does not match template `labels`");
}

/// Of a DaemonSet kube-apiserver says less when its selector is none.
void CheckSelector(const ResourceType& type, const JsonTree& spec, FieldCauses& causes) {
  const bool tells_all = type.plural != "daemonsets";
  const JsonTree* const selector = spec.Find("selector");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  const bool empty = selector != nullptr && selector->size() == 0;
  if (selector == nullptr && tells_all) {
    causes.Required("spec.selector");
  } else if (empty) {
    causes.Invalid("spec.selector", "{}", "empty selector is invalid");
  }
  FieldCauses problems;
  CheckLabelSelector(selector, "spec.selector", problems);
  if (!problems.empty()) {
    causes.AddAll(std::move(problems).Take());
    if (tells_all) {
      causes.Invalid("spec.selector", selector->ToJson(), "invalid label selector");
    }
  } else if (selector == nullptr ? !tells_all
                                 : !empty && !MatchesSelector(*selector, LabelMapOf(labels))) {
    AddMismatch(labels, causes);
  }
}

/// A template of pods that are to run all the time.
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

/// What only a StatefulSet has.
void CheckStatefulSet(bool is_new, const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
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
  ForEachOf(spec, "volumeClaimTemplates", at, [&](const JsonTree& claim, const FieldPath& here) {
    CheckClaimAt(PartAt(claim, "spec"), here.Member("spec"), causes);
  });
}

}  // namespace

void CheckWorkload(const ResourceType& type, bool is_new, const JsonTree& spec,
                   FieldCauses& causes) {
  const FieldPath at("spec");
  CheckLeast(spec, "replicas", 0, at, causes);
  CheckUpdateStrategy(type, spec, causes);
  CheckSelector(type, spec, causes);
  std::vector<std::string_view> claims;
  if (type.plural == "statefulsets") {
    CheckStatefulSet(is_new, spec, at, causes);
    for (const JsonTree& claim : ListAt(spec, "volumeClaimTemplates")) {
      claims.push_back(PartAt(claim, "metadata").TextAt("name"));
    }
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
