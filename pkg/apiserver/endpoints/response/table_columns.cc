#include "kubexx/apiserver/endpoints/response/table_columns.h"

#include <string>

namespace kubexx::apiserver {
namespace {

constexpr Column kPlainColumns[] = {kNameColumn, {"Created At", "date", CreatedCell}};

}  // namespace

std::span<const Column> ColumnsOf(const ResourceType& type) {
  const std::string name = type.QualifiedPlural();
  for (const auto tables : {PodTables(), WorkloadTables(), AutoscalerTables(), NetworkTables(),
                            StorageTables(), EventTables(), ClusterTables(), RuleTables()}) {
    for (const TypeColumns& table : tables) {
      if (table.type == name) {
        return table.columns;
      }
    }
  }
  return kPlainColumns;
}

}  // namespace kubexx::apiserver
