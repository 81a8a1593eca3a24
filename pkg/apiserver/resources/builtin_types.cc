// The properties of the built-in resources that kube-apiserver's discovery, storage and strategies
// have and the generated packages do not: there is one entry per resource, and it is only here.
// TypeBehavior has the treatment of the objects in the same way.
#include "kubexx/apiserver/resources/builtin_types.h"

#include <initializer_list>
#include <utility>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apiserver/object/autoscaler_versions.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

/// The properties of a row, which can be combined.
enum Flags : unsigned {
  kCluster = 1,
  kStatus = 2,
  kScale = 4,
  kInAll = 8,  // in the category "all"
  kApiExtensions = 16,
  kReview = 32,
  kMadeUp = 64,
  kOlder = 128,  // stored in the version of the row before it
  // See TypeRules.
  kGeneration = 256,
  kCountsAnnotations = 512,
  kCreatedByUpdate = 1024,
  kNeedsVersion = 2048,
  kKeepsNewStatus = 4096,
  kAnswersWithDeleted = 8192,
  kOrphans = 16384,
  kUncollected = 32768,
  kGraceful = 65536,
  kHoldsObjects = 131072,
};

constexpr Verbs kReadOnly{Verb::kGet, Verb::kList};
constexpr Verbs kAllButCollections{Verb::kCreate, Verb::kDelete, Verb::kGet,  Verb::kList,
                                   Verb::kPatch,  Verb::kUpdate, Verb::kWatch};

constexpr Subresource kApproval{.is = Subresource::Is::kApproval, .name = "approval"};
constexpr Subresource kBinding{.is = Subresource::Is::kBinding,
                               .name = "binding",
                               .verbs = kPosted,
                               .version = "v1",
                               .kind = "Binding"};
constexpr Subresource kEphemeralContainers{.is = Subresource::Is::kEphemeralContainers,
                                           .name = "ephemeralcontainers"};
constexpr Subresource kEviction{.is = Subresource::Is::kEviction,
                                .name = "eviction",
                                .verbs = kPosted,
                                .group = "policy",
                                .version = "v1",
                                .kind = "Eviction"};
constexpr Subresource kFinalize{
    .is = Subresource::Is::kFinalize, .name = "finalize", .verbs = {Verb::kUpdate}};
constexpr Subresource kResize{.is = Subresource::Is::kResize, .name = "resize"};
constexpr Subresource kToken{.is = Subresource::Is::kToken,
                             .name = "token",
                             .verbs = kPosted,
                             .group = "authentication.k8s.io",
                             .version = "v1",
                             .kind = "TokenRequest"};

struct Row {
  const char* group;
  const char* version = "v1";
  const char* kind;
  const char* plural;
  unsigned flags = 0;
  const ColumnTable* columns = nullptr;
  std::initializer_list<const char*> short_names = {};
  const char* stored_as = nullptr;  // the folder below /registry if it is not the plural
  // The subresources other than status and scale, which have flags.
  std::initializer_list<Subresource> subresources = {};
  Verbs verbs = kAllVerbs;  // unless a flag says otherwise
  std::initializer_list<std::string_view> selectable = {};
  StatusMetadata status_metadata = StatusMetadata::kWritten;
  ServerDuty duty = ServerDuty::kNone;
  codec::JsonTree (*convert)(const codec::JsonTree& object, std::string_view api_version) = nullptr;
  const char* deprecation = "";
  const char* no_effect = "";
  const char* hashed_version = "";

  bool Has(Flags flag) const { return (flags & flag) != 0; }
};

constexpr const char* kAdmission = "admissionregistration.k8s.io";
constexpr const char* kFlow = "flowcontrol.apiserver.k8s.io";
constexpr const char* kNetworking = "networking.k8s.io";
constexpr const char* kRbac = "rbac.authorization.k8s.io";
constexpr const char* kResource = "resource.k8s.io";
constexpr const char* kStorage = "storage.k8s.io";

// clang-format off
const Row kRows[] = {
    {.group = "", .kind = "ComponentStatus", .plural = "componentstatuses", .flags = kCluster | kMadeUp,
     .columns = &kComponentStatusTable, .short_names = {"cs"}, .deprecation = "v1 ComponentStatus is deprecated in v1.19+"},
    {.group = "", .kind = "ConfigMap", .plural = "configmaps", .columns = &kConfigMapTable, .short_names = {"cm"}},
    {.group = "", .kind = "Endpoints", .plural = "endpoints", .flags = kCreatedByUpdate, .columns = &kEndpointsTable,
     .short_names = {"ep"}, .stored_as = "services/endpoints",
     .deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
    {.group = "", .kind = "Event", .plural = "events", .flags = kCreatedByUpdate | kUncollected, .columns = &kEventTable,
     .short_names = {"ev"},
     .selectable = {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
                    "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                    "reportingComponent", "source", "type"}},
    {.group = "", .kind = "LimitRange", .plural = "limitranges", .flags = kCreatedByUpdate, .short_names = {"limits"},
     .no_effect = "kubexx-apiserver applies no limit ranges: this one is kept and has no effect"},
    {.group = "", .kind = "Namespace", .plural = "namespaces", .flags = kCluster | kStatus | kHoldsObjects,
     .columns = &kNamespaceTable, .short_names = {"ns"}, .subresources = {kFinalize}, .verbs = kAllButCollections,
     .selectable = {"status.phase"}, .duty = ServerDuty::kEmptyNamespaces},
    {.group = "", .kind = "Node", .plural = "nodes", .flags = kCluster | kStatus | kKeepsNewStatus, .columns = &kNodeTable,
     .short_names = {"no"}, .stored_as = "minions", .selectable = {"spec.unschedulable"}},
    {.group = "", .kind = "PersistentVolumeClaim", .plural = "persistentvolumeclaims", .flags = kStatus | kAnswersWithDeleted,
     .columns = &kClaimTable, .short_names = {"pvc"}},
    {.group = "", .kind = "PersistentVolume", .plural = "persistentvolumes", .flags = kCluster | kStatus | kAnswersWithDeleted,
     .columns = &kVolumeTable, .short_names = {"pv"}},
    {.group = "", .kind = "Pod", .plural = "pods", .flags = kStatus | kGeneration | kInAll | kAnswersWithDeleted | kGraceful,
     .columns = &kPodTable, .short_names = {"po"}, .subresources = {kBinding, kEphemeralContainers, kEviction, kResize},
     .selectable = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
                    "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"},
     .status_metadata = StatusMetadata::kOwnersKept},
    {.group = "", .kind = "PodTemplate", .plural = "podtemplates", .flags = kGeneration | kAnswersWithDeleted,
     .columns = &kPodTemplateTable},
    {.group = "", .kind = "ReplicationController", .plural = "replicationcontrollers",
     .flags = kStatus | kScale | kGeneration | kInAll | kOrphans, .columns = &kReplicationControllerTable, .short_names = {"rc"},
     .stored_as = "controllers", .selectable = {"status.replicas"}},
    {.group = "", .kind = "ResourceQuota", .plural = "resourcequotas", .flags = kStatus | kAnswersWithDeleted,
     .columns = &kQuotaTable, .short_names = {"quota"},
     .no_effect = "kubexx-apiserver enforces no quotas: this one is kept and has no effect"},
    {.group = "", .kind = "Secret", .plural = "secrets", .columns = &kSecretTable, .selectable = {"type"}},
    {.group = "", .kind = "ServiceAccount", .plural = "serviceaccounts", .flags = kAnswersWithDeleted,
     .columns = &kServiceAccountTable, .short_names = {"sa"}, .subresources = {kToken}},
    {.group = "", .kind = "Service", .plural = "services", .flags = kStatus | kInAll | kCreatedByUpdate | kAnswersWithDeleted,
     .columns = &kServiceTable, .short_names = {"svc"}, .stored_as = "services/specs",
     .selectable = {"spec.clusterIP", "spec.type"}},
    {.group = kAdmission, .kind = "MutatingAdmissionPolicy", .plural = "mutatingadmissionpolicies",
     .flags = kCluster | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kMutatingPolicyTable,
     .no_effect = "kubexx-apiserver evaluates no admission policies: this one is kept and has no effect",
     .hashed_version = "admissionregistration.k8s.io/v1beta1"},
    {.group = kAdmission, .kind = "MutatingAdmissionPolicyBinding", .plural = "mutatingadmissionpolicybindings",
     .flags = kCluster | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kPolicyBindingTable,
     .no_effect = "kubexx-apiserver evaluates no admission policies: this binding is kept and has no effect",
     .hashed_version = "admissionregistration.k8s.io/v1beta1"},
    {.group = kAdmission, .kind = "MutatingWebhookConfiguration", .plural = "mutatingwebhookconfigurations",
     .flags = kCluster | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kWebhooksTable,
     .duty = ServerDuty::kCallWebhooks},
    {.group = kAdmission, .kind = "ValidatingAdmissionPolicy", .plural = "validatingadmissionpolicies",
     .flags = kCluster | kStatus | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kValidatingPolicyTable,
     .status_metadata = StatusMetadata::kKept,
     .no_effect = "kubexx-apiserver evaluates no admission policies: this one is kept and has no effect"},
    {.group = kAdmission, .kind = "ValidatingAdmissionPolicyBinding", .plural = "validatingadmissionpolicybindings",
     .flags = kCluster | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kPolicyBindingTable,
     .no_effect = "kubexx-apiserver evaluates no admission policies: this binding is kept and has no effect"},
    {.group = kAdmission, .kind = "ValidatingWebhookConfiguration", .plural = "validatingwebhookconfigurations",
     .flags = kCluster | kGeneration | kApiExtensions | kNeedsVersion, .columns = &kWebhooksTable,
     .duty = ServerDuty::kCallWebhooks},
    {.group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .plural = "customresourcedefinitions",
     .flags = kCluster | kStatus | kGeneration | kApiExtensions | kNeedsVersion, .short_names = {"crd", "crds"},
     .stored_as = "apiextensions.k8s.io/customresourcedefinitions", .duty = ServerDuty::kServeCustomTypes,
     .hashed_version = "apiextensions.k8s.io/v1beta1"},
    {.group = "apiregistration.k8s.io", .kind = "APIService", .plural = "apiservices",
     .flags = kCluster | kStatus | kApiExtensions | kNeedsVersion, .columns = &kApiServiceTable,
     .stored_as = "apiregistration.k8s.io/apiservices", .status_metadata = StatusMetadata::kKept,
     .no_effect = "kubexx-apiserver forwards requests to no other server: this APIService is kept and has no effect"},
    {.group = "apps", .kind = "ControllerRevision", .plural = "controllerrevisions", .columns = &kControllerRevisionTable},
    {.group = "apps", .kind = "DaemonSet", .plural = "daemonsets", .flags = kStatus | kGeneration | kInAll,
     .columns = &kDaemonSetTable, .short_names = {"ds"}},
    {.group = "apps", .kind = "Deployment", .plural = "deployments",
     .flags = kStatus | kScale | kGeneration | kInAll | kCountsAnnotations, .columns = &kDeploymentTable,
     .short_names = {"deploy"}, .status_metadata = StatusMetadata::kLabelsKept},
    {.group = "apps", .kind = "ReplicaSet", .plural = "replicasets", .flags = kStatus | kScale | kGeneration | kInAll,
     .columns = &kReplicaSetTable, .short_names = {"rs"}, .selectable = {"status.replicas"}},
    {.group = "apps", .kind = "StatefulSet", .plural = "statefulsets", .flags = kStatus | kScale | kGeneration | kInAll,
     .columns = &kStatefulSetTable, .short_names = {"sts"}},
    {.group = "authentication.k8s.io", .kind = "SelfSubjectReview", .plural = "selfsubjectreviews", .flags = kCluster | kReview},
    {.group = "authentication.k8s.io", .kind = "TokenReview", .plural = "tokenreviews", .flags = kCluster | kReview},
    {.group = "authorization.k8s.io", .kind = "LocalSubjectAccessReview", .plural = "localsubjectaccessreviews", .flags = kReview},
    {.group = "authorization.k8s.io", .kind = "SelfSubjectAccessReview", .plural = "selfsubjectaccessreviews",
     .flags = kCluster | kReview},
    {.group = "authorization.k8s.io", .kind = "SelfSubjectRulesReview", .plural = "selfsubjectrulesreviews",
     .flags = kCluster | kReview},
    {.group = "authorization.k8s.io", .kind = "SubjectAccessReview", .plural = "subjectaccessreviews", .flags = kCluster | kReview},
    {.group = "autoscaling", .version = "v2", .kind = "HorizontalPodAutoscaler", .plural = "horizontalpodautoscalers",
     .flags = kStatus | kInAll, .columns = &kAutoscalerTable, .short_names = {"hpa"}, .convert = AutoscalerInVersion},
    {.group = "autoscaling", .kind = "HorizontalPodAutoscaler", .plural = "horizontalpodautoscalers",
     .flags = kStatus | kInAll | kOlder, .columns = &kAutoscalerTable, .short_names = {"hpa"}, .convert = AutoscalerInVersion},
    {.group = "batch", .kind = "CronJob", .plural = "cronjobs", .flags = kStatus | kGeneration | kInAll, .columns = &kCronJobTable,
     .short_names = {"cj"}},
    {.group = "batch", .kind = "Job", .plural = "jobs", .flags = kStatus | kGeneration | kInAll | kOrphans, .columns = &kJobTable,
     .selectable = {"status.successful"}},
    {.group = "certificates.k8s.io", .kind = "CertificateSigningRequest", .plural = "certificatesigningrequests",
     .flags = kCluster | kStatus, .columns = &kCertificateRequestTable, .short_names = {"csr"}, .subresources = {kApproval},
     .selectable = {"spec.signerName"}},
    {.group = "coordination.k8s.io", .kind = "Lease", .plural = "leases", .flags = kCreatedByUpdate | kNeedsVersion,
     .columns = &kLeaseTable},
    {.group = "discovery.k8s.io", .kind = "EndpointSlice", .plural = "endpointslices", .flags = kGeneration,
     .columns = &kEndpointSliceTable},
    {.group = "events.k8s.io", .kind = "Event", .plural = "events", .flags = kCreatedByUpdate | kUncollected,
     .columns = &kEventTable, .short_names = {"ev"}, .stored_as = "events.k8s.io/events",
     .selectable = {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
                    "regarding.resourceVersion", "regarding.fieldPath", "reason", "reportingController", "type"},
     .hashed_version = "/v1"},
    {.group = kFlow, .kind = "FlowSchema", .plural = "flowschemas", .flags = kCluster | kStatus | kGeneration,
     .columns = &kFlowSchemaTable, .status_metadata = StatusMetadata::kKept,
     .no_effect = "kubexx-apiserver has no priority and fairness: this object is kept and has no effect"},
    {.group = kFlow, .kind = "PriorityLevelConfiguration", .plural = "prioritylevelconfigurations",
     .flags = kCluster | kStatus | kGeneration, .columns = &kPriorityLevelTable, .status_metadata = StatusMetadata::kKept,
     .no_effect = "kubexx-apiserver has no priority and fairness: this object is kept and has no effect"},
    {.group = kNetworking, .kind = "IngressClass", .plural = "ingressclasses", .flags = kCluster | kGeneration,
     .columns = &kIngressClassTable},
    {.group = kNetworking, .kind = "Ingress", .plural = "ingresses", .flags = kStatus | kGeneration, .columns = &kIngressTable,
     .short_names = {"ing"}, .stored_as = "ingress"},
    {.group = kNetworking, .kind = "IPAddress", .plural = "ipaddresses", .flags = kCluster, .columns = &kIpAddressTable,
     .short_names = {"ip"}},
    {.group = kNetworking, .kind = "NetworkPolicy", .plural = "networkpolicies", .flags = kGeneration,
     .columns = &kNetworkPolicyTable, .short_names = {"netpol"}},
    {.group = kNetworking, .kind = "ServiceCIDR", .plural = "servicecidrs", .flags = kCluster | kStatus,
     .columns = &kServiceCidrTable, .status_metadata = StatusMetadata::kKept},
    {.group = "node.k8s.io", .kind = "RuntimeClass", .plural = "runtimeclasses",
     .flags = kCluster | kCreatedByUpdate | kNeedsVersion, .columns = &kRuntimeClassTable},
    {.group = "policy", .kind = "PodDisruptionBudget", .plural = "poddisruptionbudgets",
     .flags = kStatus | kGeneration | kNeedsVersion, .columns = &kDisruptionBudgetTable, .short_names = {"pdb"}},
    {.group = kRbac, .kind = "ClusterRoleBinding", .plural = "clusterrolebindings", .flags = kCluster | kCreatedByUpdate,
     .columns = &kRoleBindingTable},
    {.group = kRbac, .kind = "ClusterRole", .plural = "clusterroles", .flags = kCluster | kCreatedByUpdate},
    {.group = kRbac, .kind = "RoleBinding", .plural = "rolebindings", .flags = kCreatedByUpdate, .columns = &kRoleBindingTable},
    {.group = kRbac, .kind = "Role", .plural = "roles", .flags = kCreatedByUpdate},
    {.group = kResource, .kind = "DeviceClass", .plural = "deviceclasses", .flags = kCluster | kGeneration,
     .columns = &kNameAndAgeTable},
    {.group = kResource, .kind = "ResourceClaim", .plural = "resourceclaims", .flags = kStatus, .columns = &kResourceClaimTable,
     .status_metadata = StatusMetadata::kKept},
    {.group = kResource, .kind = "ResourceClaimTemplate", .plural = "resourceclaimtemplates", .columns = &kNameAndAgeTable},
    {.group = kResource, .kind = "ResourceSlice", .plural = "resourceslices", .flags = kCluster | kGeneration,
     .columns = &kResourceSliceTable, .selectable = {"spec.nodeName", "spec.driver"}},
    {.group = "scheduling.k8s.io", .kind = "PriorityClass", .plural = "priorityclasses", .flags = kCluster | kGeneration,
     .columns = &kPriorityClassTable, .short_names = {"pc"}},
    {.group = kStorage, .kind = "CSIDriver", .plural = "csidrivers", .flags = kCluster | kAnswersWithDeleted | kNeedsVersion,
     .columns = &kCsiDriverTable},
    {.group = kStorage, .kind = "CSINode", .plural = "csinodes", .flags = kCluster | kAnswersWithDeleted | kNeedsVersion,
     .columns = &kCsiNodeTable},
    {.group = kStorage, .kind = "CSIStorageCapacity", .plural = "csistoragecapacities", .flags = kNeedsVersion},
    {.group = kStorage, .kind = "StorageClass", .plural = "storageclasses", .flags = kCluster | kAnswersWithDeleted,
     .columns = &kStorageClassTable, .short_names = {"sc"}},
    {.group = kStorage, .kind = "VolumeAttachment", .plural = "volumeattachments",
     .flags = kCluster | kStatus | kAnswersWithDeleted | kNeedsVersion, .columns = &kAttachmentTable,
     .status_metadata = StatusMetadata::kKept},
    {.group = kStorage, .kind = "VolumeAttributesClass", .plural = "volumeattributesclasses", .flags = kCluster,
     .columns = &kAttributesClassTable, .short_names = {"vac"}},
};
// clang-format on

TypeRules RulesOf(const Row& row) {
  return {.has_generation = row.Has(kGeneration),
          .counts_annotations = row.Has(kCountsAnnotations),
          .created_by_update = row.Has(kCreatedByUpdate),
          .needs_version = row.Has(kNeedsVersion),
          .keeps_new_status = row.Has(kKeepsNewStatus),
          .answers_with_deleted = row.Has(kAnswersWithDeleted),
          .orphans_by_default = row.Has(kOrphans),
          .uncollected = row.Has(kUncollected),
          .deleted_gracefully = row.Has(kGraceful),
          .holds_objects = row.Has(kHoldsObjects),
          .duty = row.duty,
          .status_metadata = row.status_metadata};
}

/// Returns the subresources in the order of discovery: the scale first and the status last.
std::vector<Subresource> SubresourcesOf(const Row& row) {
  std::vector<Subresource> all(row.subresources);
  if (row.Has(kScale)) {
    all.insert(all.begin(), kScaleSubresource);
  }
  if (row.Has(kStatus)) {
    all.push_back(kStatusSubresource);
  }
  return all;
}

ResourceType TypeOf(const Row& row) {
  ResourceType type;
  type.group = row.group;
  type.version = row.version;
  type.kind = row.kind;
  type.plural = row.plural;
  type.singular = base::ToLower(type.kind);
  type.namespaced = !row.Has(kCluster);
  type.is_review = row.Has(kReview);
  type.is_made_up = row.Has(kMadeUp);
  type.verbs = type.is_review ? kPosted : (type.is_made_up ? kReadOnly : row.verbs);
  type.subresources = SubresourcesOf(row);
  type.rules = RulesOf(row);
  type.columns = row.columns;
  type.selectable = row.selectable;
  type.short_names.assign(row.short_names.begin(), row.short_names.end());
  if (row.Has(kInAll)) {
    type.categories.emplace_back("all");
  }
  if (row.Has(kApiExtensions)) {
    type.categories.emplace_back("api-extensions");
  }
  type.prefix =
      "/registry/" + std::string(row.stored_as == nullptr ? row.plural : row.stored_as) + "/";
  type.schema = api::Registry().Find(type.ApiVersion(), type.kind);
  type.convert = row.convert;
  type.deprecation = row.deprecation;
  type.no_effect = row.no_effect;
  type.hashed_version = row.hashed_version;
  return type;
}

}  // namespace

std::vector<ResourceTypeRef> BuiltinTypes() {
  std::vector<ResourceTypeRef> types;
  for (const Row& row : kRows) {
    ResourceType type = TypeOf(row);
    if (row.Has(kOlder)) {
      type.stored_as = types.back();
    }
    types.push_back(std::make_shared<const ResourceType>(std::move(type)));
  }
  return types;
}

}  // namespace kubexx::apiserver
