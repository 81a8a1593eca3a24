/// @file
/// The tables of built-in types, their columns in the order of kube-apiserver's.
#ifndef KUBEXX_APISERVER_RESOURCES_TABLE_COLUMNS_H_
#define KUBEXX_APISERVER_RESOURCES_TABLE_COLUMNS_H_

#include "kubexx/apiserver/object/column.h"

namespace kubexx::apiserver {

/// @name Of pods and their templates.
/// @{
extern const ColumnTable kPodTable;
extern const ColumnTable kPodTemplateTable;
/// @}

/// @name Of what makes pods, and what watches over their number.
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

/// @name Of HorizontalPodAutoscalers, in either version.
/// @{
extern const ColumnTable kAutoscalerTable;
/// @}

/// @name Of Services, endpoints and what leads to them.
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

/// @name Of volumes and classes.
/// @{
extern const ColumnTable kVolumeTable;
extern const ColumnTable kClaimTable;
extern const ColumnTable kStorageClassTable;
extern const ColumnTable kAttributesClassTable;
extern const ColumnTable kAttachmentTable;
extern const ColumnTable kCsiNodeTable;
extern const ColumnTable kCsiDriverTable;
/// @}

/// @name Of Events.
/// @{
extern const ColumnTable kEventTable;
/// @}

/// @name Of nodes, namespaces and what rules them all.
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

/// @name Of admission policies, of what shares the server out, and of devices.
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
