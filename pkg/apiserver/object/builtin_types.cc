// What kube-apiserver's discovery and storage say of the built-in resources, as far as the
// generated packages do not know it: short names, categories, subresources, where it keeps them.
#include <initializer_list>
#include <utility>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apiserver/object/autoscaler_versions.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

/// Properties of a row, to be combined.
enum Flags : unsigned {
  kCluster = 1,
  kStatus = 2,
  kScale = 4,
  kGeneration = 8,
  kInAll = 16,  // category "all"
  kApiExtensions = 32,
  kReview = 64,
  kMadeUp = 128,
  kOlder = 256,  // stored in the version of the row before
};

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  unsigned flags;
  std::initializer_list<const char*> short_names = {};
  const char* stored_as = nullptr;  // the folder below /registry when it is not the plural
};

constexpr const char* kAdmission = "admissionregistration.k8s.io";
constexpr const char* kFlow = "flowcontrol.apiserver.k8s.io";
constexpr const char* kNetworking = "networking.k8s.io";
constexpr const char* kRbac = "rbac.authorization.k8s.io";
constexpr const char* kResource = "resource.k8s.io";
constexpr const char* kStorage = "storage.k8s.io";

// clang-format off
const Row kRows[] = {
    {"", "v1", "ComponentStatus", "componentstatuses", kCluster | kMadeUp, {"cs"}},
    {"", "v1", "ConfigMap", "configmaps", 0, {"cm"}},
    {"", "v1", "Endpoints", "endpoints", 0, {"ep"}, "services/endpoints"},
    {"", "v1", "Event", "events", 0, {"ev"}},
    {"", "v1", "LimitRange", "limitranges", 0, {"limits"}},
    {"", "v1", "Namespace", "namespaces", kCluster | kStatus, {"ns"}},
    {"", "v1", "Node", "nodes", kCluster | kStatus, {"no"}, "minions"},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", kStatus, {"pvc"}},
    {"", "v1", "PersistentVolume", "persistentvolumes", kCluster | kStatus, {"pv"}},
    {"", "v1", "Pod", "pods", kStatus | kGeneration | kInAll, {"po"}},
    {"", "v1", "PodTemplate", "podtemplates", kGeneration},
    {"", "v1", "ReplicationController", "replicationcontrollers", kStatus | kScale | kGeneration | kInAll, {"rc"}, "controllers"},
    {"", "v1", "ResourceQuota", "resourcequotas", kStatus, {"quota"}},
    {"", "v1", "Secret", "secrets", 0},
    {"", "v1", "ServiceAccount", "serviceaccounts", 0, {"sa"}},
    {"", "v1", "Service", "services", kStatus | kInAll, {"svc"}, "services/specs"},
    {kAdmission, "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", kCluster | kGeneration | kApiExtensions},
    {kAdmission, "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", kCluster | kGeneration | kApiExtensions},
    {kAdmission, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", kCluster | kGeneration | kApiExtensions},
    {kAdmission, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", kCluster | kStatus | kGeneration | kApiExtensions},
    {kAdmission, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", kCluster | kGeneration | kApiExtensions},
    {kAdmission, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", kCluster | kGeneration | kApiExtensions},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", kCluster | kStatus | kGeneration | kApiExtensions, {"crd", "crds"}, "apiextensions.k8s.io/customresourcedefinitions"},
    {"apiregistration.k8s.io", "v1", "APIService", "apiservices", kCluster | kStatus | kApiExtensions, {}, "apiregistration.k8s.io/apiservices"},
    {"apps", "v1", "ControllerRevision", "controllerrevisions", 0},
    {"apps", "v1", "DaemonSet", "daemonsets", kStatus | kGeneration | kInAll, {"ds"}},
    {"apps", "v1", "Deployment", "deployments", kStatus | kScale | kGeneration | kInAll, {"deploy"}},
    {"apps", "v1", "ReplicaSet", "replicasets", kStatus | kScale | kGeneration | kInAll, {"rs"}},
    {"apps", "v1", "StatefulSet", "statefulsets", kStatus | kScale | kGeneration | kInAll, {"sts"}},
    {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", kCluster | kReview},
    {"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", kCluster | kReview},
    {"authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", kReview},
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", kCluster | kReview},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", kCluster | kReview},
    {"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", kCluster | kReview},
    {"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", kStatus | kInAll, {"hpa"}},
    {"autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", kStatus | kInAll | kOlder, {"hpa"}},
    {"batch", "v1", "CronJob", "cronjobs", kStatus | kGeneration | kInAll, {"cj"}},
    {"batch", "v1", "Job", "jobs", kStatus | kGeneration | kInAll},
    {"certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", kCluster | kStatus, {"csr"}},
    {"coordination.k8s.io", "v1", "Lease", "leases", 0},
    {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", kGeneration},
    {"events.k8s.io", "v1", "Event", "events", 0, {"ev"}, "events.k8s.io/events"},
    {kFlow, "v1", "FlowSchema", "flowschemas", kCluster | kStatus | kGeneration},
    {kFlow, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", kCluster | kStatus | kGeneration},
    {kNetworking, "v1", "IngressClass", "ingressclasses", kCluster | kGeneration},
    {kNetworking, "v1", "Ingress", "ingresses", kStatus | kGeneration, {"ing"}, "ingress"},
    {kNetworking, "v1", "IPAddress", "ipaddresses", kCluster, {"ip"}},
    {kNetworking, "v1", "NetworkPolicy", "networkpolicies", kGeneration, {"netpol"}},
    {kNetworking, "v1", "ServiceCIDR", "servicecidrs", kCluster | kStatus},
    {"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", kCluster},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", kStatus | kGeneration, {"pdb"}},
    {kRbac, "v1", "ClusterRoleBinding", "clusterrolebindings", kCluster},
    {kRbac, "v1", "ClusterRole", "clusterroles", kCluster},
    {kRbac, "v1", "RoleBinding", "rolebindings", 0},
    {kRbac, "v1", "Role", "roles", 0},
    {kResource, "v1", "DeviceClass", "deviceclasses", kCluster | kGeneration},
    {kResource, "v1", "ResourceClaim", "resourceclaims", kStatus},
    {kResource, "v1", "ResourceClaimTemplate", "resourceclaimtemplates", 0},
    {kResource, "v1", "ResourceSlice", "resourceslices", kCluster | kGeneration},
    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", kCluster | kGeneration, {"pc"}},
    {kStorage, "v1", "CSIDriver", "csidrivers", kCluster},
    {kStorage, "v1", "CSINode", "csinodes", kCluster},
    {kStorage, "v1", "CSIStorageCapacity", "csistoragecapacities", 0},
    {kStorage, "v1", "StorageClass", "storageclasses", kCluster, {"sc"}},
    {kStorage, "v1", "VolumeAttachment", "volumeattachments", kCluster | kStatus},
    {kStorage, "v1", "VolumeAttributesClass", "volumeattributesclasses", kCluster, {"vac"}},
};
// clang-format on

ResourceType TypeOf(const Row& row) {
  ResourceType type;
  type.group = row.group;
  type.version = row.version;
  type.kind = row.kind;
  type.plural = row.plural;
  type.singular = base::ToLower(type.kind);
  type.namespaced = (row.flags & kCluster) == 0;
  type.has_status = (row.flags & kStatus) != 0;
  type.has_scale = (row.flags & kScale) != 0;
  type.is_review = (row.flags & kReview) != 0;
  type.is_made_up = (row.flags & kMadeUp) != 0;
  type.has_generation = (row.flags & kGeneration) != 0;
  type.short_names.assign(row.short_names.begin(), row.short_names.end());
  if ((row.flags & kInAll) != 0) {
    type.categories.emplace_back("all");
  }
  if ((row.flags & kApiExtensions) != 0) {
    type.categories.emplace_back("api-extensions");
  }
  type.prefix =
      "/registry/" + std::string(row.stored_as == nullptr ? row.plural : row.stored_as) + "/";
  type.schema = api::Registry().Find(type.ApiVersion(), type.kind);
  if (type.kind == "HorizontalPodAutoscaler") {
    type.convert = AutoscalerInVersion;
  } else if (type.kind == "ComponentStatus") {
    type.deprecation = "v1 ComponentStatus is deprecated in v1.19+";
  } else if (type.kind == "Endpoints") {
    type.deprecation =
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  }
  return type;
}

}  // namespace

std::vector<ResourceTypeRef> BuiltinTypes() {
  std::vector<ResourceTypeRef> types;
  for (const Row& row : kRows) {
    ResourceType type = TypeOf(row);
    if ((row.flags & kOlder) != 0) {
      type.stored_as = types.back();
    }
    types.push_back(std::make_shared<const ResourceType>(std::move(type)));
  }
  return types;
}

}  // namespace kubexx::apiserver
