// The particular behaviour of each built-in type: there is one entry per type, and it is only here.
#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/name_rules.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/defaults/autoscaler_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/cluster_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/network_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/pod_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/template_generation.h"
#include "kubexx/apiserver/endpoints/defaults/workload_defaults.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/reviews/review_answers.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_decisions.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/endpoints/validation/cluster/class_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/config_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/definition_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/lease_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/namespace_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/quota_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/rbac_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/webhook_configuration.h"
#include "kubexx/apiserver/endpoints/validation/network/cidr_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/endpoint_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/ingress_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/network_policy_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/service_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_parts.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/volume_changes.h"
#include "kubexx/apiserver/endpoints/validation/workloads/autoscaler_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/disruption_budget.h"
#include "kubexx/apiserver/endpoints/validation/workloads/job_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/workload_changes.h"
#include "kubexx/apiserver/endpoints/validation/workloads/workload_validation.h"
#include "kubexx/apiserver/schema/definition.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

// The functions in other rooms take only what they need. These templates adapt them to the table.

/// Adapts defaults that need only the object.
template <auto Set>
void Defaults(const ResourceType& /*type*/, JsonTree& object) {
  Set(object);
}

/// Adapts a check of the object.
template <auto Check>
void ByObject(const CheckedWrite& written, FieldCauses& causes) {
  Check(written.object, causes);
}

/// Adapts a check of the object and its former state.
template <auto Check>
void ByBoth(const CheckedWrite& written, FieldCauses& causes) {
  Check(written.old, written.object, causes);
}

/// Adapts a check of the object's spec.
template <auto Check>
void BySpec(const CheckedWrite& written, FieldCauses& causes) {
  Check(written.spec, causes);
}

/// Adapts a check of a change, which gets the specs before and after it.
template <auto Check>
void BySpecs(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  Check(PartAt(current, "spec"), PartAt(object, "spec"), causes);
}

void CheckPartOfCertificateRequest(WritePart part, const JsonTree& current, JsonTree& object,
                                   FieldCauses& causes) {
  CheckCertificateDecisions(part, current, object, causes);
  CheckIssuedCertificate(current, object, causes);
}

void CheckWrittenPod(const CheckedWrite& written, FieldCauses& causes) {
  if (const JsonTree* const before = written.old_spec()) {
    CheckPodUpdate(*before, written.spec, causes);
  }
  CheckPodSpec(written.spec, PodKind::kPod, "spec", {}, causes);
}

void CheckMetadataOfPod(const CheckedWrite& written, FieldCauses& causes) {
  if (written.old != nullptr) {
    CheckMirrorAnnotation(*written.old, written.object, causes);
  }
}

void CheckWrittenPodTemplate(const CheckedWrite& written, FieldCauses& causes) {
  CheckPodTemplate(written.object.Find("template"), "template", {}, causes);
}

void CheckWrittenClaim(const CheckedWrite& written, FieldCauses& causes) {
  CheckClaimAt(written.spec, FieldPath("spec"), causes);
}

void CheckWrittenStatefulSet(const CheckedWrite& written, FieldCauses& causes) {
  CheckStatefulSet(written.old == nullptr, written.spec, causes);
}

void CheckWrittenAutoscaler(const CheckedWrite& written, FieldCauses& causes) {
  CheckAutoscaler(written.old_spec(), written.spec, causes);
}

void CheckWrittenRole(const CheckedWrite& written, FieldCauses& causes) {
  CheckRole(written.type.namespaced, written.object, causes);
}

void CheckWrittenRoleBinding(const CheckedWrite& written, FieldCauses& causes) {
  CheckRoleBinding(written.type.namespaced, written.old, written.object, causes);
}

constexpr std::string_view kAdmissionApi = "admissionregistration.k8s.io";
constexpr std::string_view kAuthenticationApi = "authentication.k8s.io";
constexpr std::string_view kAuthorizationApi = "authorization.k8s.io";
constexpr std::string_view kNetworkingApi = "networking.k8s.io";
constexpr std::string_view kRbacApi = "rbac.authorization.k8s.io";
constexpr std::string_view kStorageApi = "storage.k8s.io";

// clang-format off
const TypeBehavior kBehaviors[] = {
    {.group = "", .plural = "configmaps", .check = ByObject<CheckConfigMap>, .check_change = CheckMarkedData},
    {.group = "", .plural = "endpoints", .set_defaults = Defaults<SetEndpointsDefaults>, .check = ByObject<CheckEndpoints>},
    {.group = "", .plural = "limitranges", .set_defaults = Defaults<SetLimitRangeDefaults>, .check = BySpec<CheckLimitRange>},
    {.group = "", .plural = "namespaces", .set_defaults = Defaults<SetNamespaceDefaults>,
     // The finalizers in the spec can only be changed through the subresource finalize.
     .complete_new = AddNamespaceFinalizer, .fields_kept_by_update = {"spec.finalizers"}, .name_problem = LabelNameProblem,
     .check = ByBoth<CheckNamespaceFinalizers>, .check_part = CheckPartOfNamespace, .warnings = PodSecurityWarnings},
    {.group = "", .plural = "persistentvolumeclaims",
     .plain_defaults = {{"spec", "volumeMode", R"("Filesystem")"}, {"status", "phase", R"("Pending")"}},
     .set_defaults = Defaults<SetPersistentVolumeClaimDefaults>, .check = CheckWrittenClaim,
     .immutable_fields = {{"spec.volumeMode", "volumeMode"}}, .check_change = CheckClaimChange},
    {.group = "", .plural = "persistentvolumes",
     .plain_defaults = {{"spec", "persistentVolumeReclaimPolicy", R"("Retain")"},
                        {"spec", "volumeMode", R"("Filesystem")"},
                        {"status", "phase", R"("Pending")"}},
     .set_defaults = Defaults<SetPersistentVolumeDefaults>, .check = BySpec<CheckPersistentVolume>,
     .immutable_fields = {{"spec.volumeMode", "volumeMode"}}, .check_change = CheckVolumeChange},
    {.group = "", .plural = "pods", .set_defaults = Defaults<SetPodDefaults>, .complete_new = CompleteNewPod, .check = CheckWrittenPod,
     .check_always = CheckMetadataOfPod, .check_new = CheckNewPod, .check_part = CheckPartOfPod},
    {.group = "", .plural = "podtemplates", .set_defaults = Defaults<SetPodTemplateDefaults>, .check = CheckWrittenPodTemplate},
    {.group = "", .plural = "replicationcontrollers", .set_defaults = Defaults<SetReplicationControllerDefaults>,
     .check = BySpec<CheckReplicationController>},
    {.group = "", .plural = "resourcequotas", .check = BySpec<CheckQuotaSpec>, .check_change = BySpecs<CheckQuotaChange>},
    {.group = "", .plural = "secrets", .set_defaults = Defaults<SetSecretDefaults>, .check = ByObject<CheckSecret>,
     .immutable_fields = {{"type"}}, .check_change = CheckMarkedData},
    {.group = "", .plural = "services", .set_defaults = Defaults<SetServiceDefaults>, .name_problem = LabelNameProblem,
     .check = ByBoth<CheckService>, .check_change = BySpecs<CheckServiceChange>},
    {.group = kAdmissionApi, .plural = "mutatingadmissionpolicies", .plain_defaults = {{"spec", "failurePolicy", R"("Fail")"}},
     .set_defaults = Defaults<SetAdmissionPolicyDefaults>},
    {.group = kAdmissionApi, .plural = "mutatingwebhookconfigurations", .set_defaults = Defaults<SetMutatingWebhookDefaults>,
     .check_always = ByObject<CheckWebhooks>, .warnings = WebhookWarnings},
    {.group = kAdmissionApi, .plural = "validatingadmissionpolicies", .plain_defaults = {{"spec", "failurePolicy", R"("Fail")"}},
     .set_defaults = Defaults<SetAdmissionPolicyDefaults>},
    {.group = kAdmissionApi, .plural = "validatingwebhookconfigurations", .set_defaults = Defaults<SetValidatingWebhookDefaults>,
     .check_always = ByObject<CheckWebhooks>, .warnings = WebhookWarnings},
    {.group = "apiextensions.k8s.io", .plural = "customresourcedefinitions", .set_defaults = Defaults<SetDefinitionDefaults>,
     .check_long = CheckWrittenDefinition, .warnings = schema::DefinitionWarnings},
    {.group = "apiregistration.k8s.io", .plural = "apiservices", .name_problem = SegmentNameProblem},
    {.group = "apps", .plural = "controllerrevisions", .immutable_fields = {{"data"}}},
    {.group = "apps", .plural = "daemonsets", .set_defaults = Defaults<SetDaemonSetDefaults>,
     .keep_up = CountDaemonSetTemplates, .check = BySpec<CheckDaemonSet>, .immutable_fields = {{"spec.selector"}}},
    {.group = "apps", .plural = "deployments", .set_defaults = Defaults<SetDeploymentDefaults>, .check = BySpec<CheckDeployment>,
     .immutable_fields = {{"spec.selector"}}},
    {.group = "apps", .plural = "replicasets", .set_defaults = Defaults<SetReplicaSetDefaults>, .check = BySpec<CheckReplicaSet>,
     .immutable_fields = {{"spec.selector"}}},
    // The name of a StatefulSet is a label of its pods.
    {.group = "apps", .plural = "statefulsets", .set_defaults = Defaults<SetStatefulSetDefaults>,
     .name_problem = ShortNameProblem, .check = CheckWrittenStatefulSet, .check_change = BySpecs<CheckStatefulSetChange>},
    {.group = kAuthenticationApi, .plural = "selfsubjectreviews", .answer_review = AnswerSelfReview},
    {.group = kAuthenticationApi, .plural = "tokenreviews", .answer_review = AnswerTokenReview},
    {.group = kAuthorizationApi, .plural = "localsubjectaccessreviews", .answer_review = AnswerLocalAccessReview},
    {.group = kAuthorizationApi, .plural = "selfsubjectaccessreviews", .answer_review = AnswerSelfAccessReview},
    {.group = kAuthorizationApi, .plural = "selfsubjectrulesreviews", .answer_review = AnswerRulesReview},
    {.group = kAuthorizationApi, .plural = "subjectaccessreviews", .answer_review = AnswerAccessReview},
    {.group = "autoscaling", .plural = "horizontalpodautoscalers", .set_defaults = SetAutoscalerDefaults,
     .check = CheckWrittenAutoscaler},
    {.group = "batch", .plural = "cronjobs",
     .plain_defaults = {{"spec", "concurrencyPolicy", R"("Allow")"},
                        {"spec", "suspend", "false"},
                        {"spec", "successfulJobsHistoryLimit", "3"},
                        {"spec", "failedJobsHistoryLimit", "1"}},
     .set_defaults = Defaults<SetCronJobDefaults>, .check = ByBoth<CheckCronJob>},
    {.group = "batch", .plural = "jobs", .set_defaults = Defaults<SetJobDefaults>, .check = ByObject<CheckJob>,
     .immutable_fields = {{"spec.selector"}, {"spec.completionMode"}, {"spec.podFailurePolicy"}, {"spec.backoffLimitPerIndex"},
                          {"spec.successPolicy"}, {"spec.managedBy"}},
     .check_change = CheckJobChange},
    {.group = "certificates.k8s.io", .plural = "certificatesigningrequests",
     // An approval is for the spec that was requested, so the spec does not change.
     .fields_kept_by_update = {"spec"}, .keep_in_status = KeepCertificateDecisions, .unowned_fields = {"spec"},
     .unowned_in_status = {"status.conditions"}, .name_problem = SegmentNameProblem, .check = ByObject<CheckCertificateRequest>,
     .check_part = CheckPartOfCertificateRequest},
    {.group = "coordination.k8s.io", .plural = "leases", .check = BySpec<CheckLease>},
    {.group = "discovery.k8s.io", .plural = "endpointslices", .set_defaults = Defaults<SetEndpointSliceDefaults>,
     .check = ByObject<CheckEndpointSlice>, .immutable_fields = {{"addressType"}}},
    {.group = "flowcontrol.apiserver.k8s.io", .plural = "prioritylevelconfigurations",
     .set_defaults = Defaults<SetPriorityLevelDefaults>},
    {.group = kNetworkingApi, .plural = "ingressclasses", .set_defaults = Defaults<SetIngressClassDefaults>,
     .check = BySpec<CheckIngressClass>, .immutable_fields = {{"spec.controller"}}},
    {.group = kNetworkingApi, .plural = "ingresses", .check = ByBoth<CheckIngress>},
    {.group = kNetworkingApi, .plural = "ipaddresses", .name_problem = AddressNameProblem,
     .immutable_fields = {{"spec.parentRef"}}},
    {.group = kNetworkingApi, .plural = "networkpolicies", .set_defaults = Defaults<SetNetworkPolicyDefaults>,
     .check = BySpec<CheckNetworkPolicy>},
    {.group = kNetworkingApi, .plural = "servicecidrs", .check_change = BySpecs<CheckServiceCidrChange>},
    {.group = "node.k8s.io", .plural = "runtimeclasses", .check = ByObject<CheckRuntimeClass>, .immutable_fields = {{"handler"}}},
    {.group = "policy", .plural = "poddisruptionbudgets", .check = BySpec<CheckDisruptionBudget>},
    {.group = kRbacApi, .plural = "clusterrolebindings", .set_defaults = Defaults<SetRoleBindingDefaults>,
     .name_problem = SegmentNameProblem, .check_always = CheckWrittenRoleBinding},
    {.group = kRbacApi, .plural = "clusterroles", .name_problem = SegmentNameProblem, .check_always = CheckWrittenRole},
    {.group = kRbacApi, .plural = "rolebindings", .set_defaults = Defaults<SetRoleBindingDefaults>,
     .name_problem = SegmentNameProblem, .check_always = CheckWrittenRoleBinding},
    {.group = kRbacApi, .plural = "roles", .name_problem = SegmentNameProblem, .check_always = CheckWrittenRole},
    {.group = "scheduling.k8s.io", .plural = "priorityclasses",
     .plain_defaults = {{"", "preemptionPolicy", R"("PreemptLowerPriority")"}}, .check = ByObject<CheckPriorityClass>,
     .immutable_fields = {{"preemptionPolicy"}}, .check_change = CheckPriorityChange},
    {.group = kStorageApi, .plural = "csidrivers",
     .plain_defaults = {{"spec", "attachRequired", "true"},
                        {"spec", "podInfoOnMount", "false"},
                        {"spec", "storageCapacity", "false"},
                        {"spec", "fsGroupPolicy", R"("ReadWriteOnceWithFSType")"},
                        {"spec", "volumeLifecycleModes", R"(["Persistent"])"},
                        {"spec", "requiresRepublish", "false"},
                        {"spec", "seLinuxMount", "false"}},
     .check = BySpec<CheckDriver>,
     .immutable_fields = {{"spec.attachRequired", "spec.attachedRequired"}, {"spec.volumeLifecycleModes"}}},
    {.group = kStorageApi, .plural = "csistoragecapacities", .immutable_fields = {{"storageClassName"}, {"nodeTopology"}}},
    {.group = kStorageApi, .plural = "storageclasses",
     .plain_defaults = {{"", "reclaimPolicy", R"("Delete")"}, {"", "volumeBindingMode", R"("Immediate")"}},
     .check = ByObject<CheckStorageClass>,
     .immutable_fields = {{"provisioner"}, {"parameters"}, {"reclaimPolicy"}, {"volumeBindingMode"}}},
    {.group = kStorageApi, .plural = "volumeattachments", .immutable_fields = {{"spec"}}},
};
// clang-format on

using QualifiedName = std::pair<std::string_view, std::string_view>;

/// Nearly all plurals differ, so they are compared first.
QualifiedName NameOfBehavior(const TypeBehavior* behavior) {
  return {behavior->plural, behavior->group};
}

}  // namespace

std::span<const TypeBehavior> TypeBehaviors() { return kBehaviors; }

const TypeBehavior& BehaviorOf(const ResourceType& type) {
  static const TypeBehavior kNothing{};
  static const std::vector<const TypeBehavior*> kByName = [] {
    std::vector<const TypeBehavior*> all;
    for (const TypeBehavior& one : kBehaviors) {
      all.push_back(&one);
    }
    std::ranges::sort(all, {}, NameOfBehavior);
    return all;
  }();
  if (type.custom) {
    return kNothing;
  }
  const QualifiedName name(type.plural, type.group);
  const auto found = std::ranges::lower_bound(kByName, name, {}, NameOfBehavior);
  return found == kByName.end() || NameOfBehavior(*found) != name ? kNothing : **found;
}

}  // namespace kubexx::apiserver
