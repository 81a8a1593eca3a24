/// @file
/// Which columns the tables of built-in types have.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_COLUMNS_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_COLUMNS_H_

#include <span>
#include <string_view>

#include "kubexx/apiserver/endpoints/response/table_cells.h"
#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The columns of one type.
struct TypeColumns {
  std::string_view type;  ///< "pods", "deployments.apps"
  std::span<const Column> columns;
};

/// Of pods and their templates.
std::span<const TypeColumns> PodTables();
/// Of what makes pods, and what watches over their number.
std::span<const TypeColumns> WorkloadTables();
/// Of HorizontalPodAutoscalers, in either version.
std::span<const TypeColumns> AutoscalerTables();
/// Of Services, endpoints and what leads to them.
std::span<const TypeColumns> NetworkTables();
/// Of volumes and classes.
std::span<const TypeColumns> StorageTables();
/// Of Events.
std::span<const TypeColumns> EventTables();
/// Of nodes, namespaces and what rules them all.
std::span<const TypeColumns> ClusterTables();
/// Of admission policies, of what shares the server out, and of devices.
std::span<const TypeColumns> RuleTables();

/// The columns of a built-in type, in the order of kube-apiserver's.
std::span<const Column> ColumnsOf(const ResourceType& type);

/// What a row says of its object besides its cells, as JSON: that a pod has ended. Empty for
/// others.
std::string_view RowConditionsOf(const ResourceType& type, const codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_COLUMNS_H_
