/// @file
/// meta/v1 Table, which kubectl prints.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The form of a table.
struct TableForm {
  std::string_view api_version = "meta.k8s.io/v1";  ///< or "meta.k8s.io/v1beta1"
  RowObject row_object = RowObject::kMetadata;
  bool headers = true;  ///< whether the table has the definitions of the columns
};

/// The beginning of a table up to the "[" of its rows. The caller appends the rows and "]}".
std::string TableHead(const ResourceType& type, const TableForm& form, std::string_view meta_json);

/// One row with its cells and as much of the object as the form wants. `json` is in the server's
/// form.
apimachinery::Result<std::string> TableRow(const ResourceType& type, const TableForm& form,
                                           std::string_view json);

/// A table of one object.
apimachinery::Result<std::string> TableOf(const ResourceType& type, const TableForm& form,
                                          std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_
