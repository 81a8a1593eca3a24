/// @file
/// The tables of built-in types. The columns have the order of kube-apiserver.
#ifndef KUBEXX_APISERVER_RESOURCES_TABLE_COLUMNS_H_
#define KUBEXX_APISERVER_RESOURCES_TABLE_COLUMNS_H_

#include "kubexx/apiserver/object/column.h"

namespace kubexx::apiserver {

/// @name Tables of pods and their templates.
/// @{
extern const ColumnTable kPodTable;
extern const ColumnTable kPodTemplateTable;
/// @}

/// @name Tables of workloads and of what controls their number of pods.
/// @{
extern const ColumnTable kDeploymentTable;
extern const ColumnTable kReplicaSetTable;
extern const ColumnTable kReplicationControllerTable;
extern const ColumnTable kDaemonSetTable;
extern const ColumnTable kStatefulSetTable;
extern const ColumnTable kControllerRevisionTable;
extern const ColumnTable kJobTable;
extern const ColumnTable kCronJobTable;
extern const ColumnTable kDisruptionBudgetTable;
extern const ColumnTable kScaleTable;
/// @}

/// @name Table of HorizontalPodAutoscalers, in both versions.
/// @{
extern const ColumnTable kAutoscalerTable;
/// @}

/// @name Tables of Services, endpoints and other network objects.
/// @{
extern const ColumnTable kServiceTable;
extern const ColumnTable kEndpointsTable;
extern const ColumnTable kEndpointSliceTable;
extern const ColumnTable kIngressTable;
extern const ColumnTable kIngressClassTable;
extern const ColumnTable kNetworkPolicyTable;
extern const ColumnTable kServiceCidrTable;
extern const ColumnTable kIpAddressTable;
/// @}

/// @name Tables of volumes and storage.
/// @{
extern const ColumnTable kVolumeTable;
extern const ColumnTable kClaimTable;
extern const ColumnTable kStorageClassTable;
extern const ColumnTable kAttributesClassTable;
extern const ColumnTable kAttachmentTable;
extern const ColumnTable kCsiNodeTable;
extern const ColumnTable kCsiDriverTable;
/// @}

/// @name Table of Events.
/// @{
extern const ColumnTable kEventTable;
/// @}

/// @name Tables of nodes, namespaces, configuration and other cluster objects.
/// @{
extern const ColumnTable kConfigMapTable;
extern const ColumnTable kSecretTable;
extern const ColumnTable kNamespaceTable;
extern const ColumnTable kServiceAccountTable;
extern const ColumnTable kNodeTable;
extern const ColumnTable kLeaseTable;
extern const ColumnTable kComponentStatusTable;
extern const ColumnTable kQuotaTable;
extern const ColumnTable kRoleBindingTable;
extern const ColumnTable kCertificateRequestTable;
extern const ColumnTable kPriorityClassTable;
extern const ColumnTable kRuntimeClassTable;
extern const ColumnTable kWebhooksTable;
extern const ColumnTable kApiServiceTable;
/// @}

/// @name Tables of admission policies, API priority and fairness, and devices.
/// @{
extern const ColumnTable kValidatingPolicyTable;
extern const ColumnTable kMutatingPolicyTable;
extern const ColumnTable kPolicyBindingTable;
extern const ColumnTable kFlowSchemaTable;
extern const ColumnTable kPriorityLevelTable;
extern const ColumnTable kNameAndAgeTable;
extern const ColumnTable kResourceClaimTable;
extern const ColumnTable kResourceSliceTable;
/// @}

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_RESOURCES_TABLE_COLUMNS_H_
