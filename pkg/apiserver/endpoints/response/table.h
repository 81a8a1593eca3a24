/// @file
/// meta/v1 Table: what kubectl prints.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// How a table is written.
struct TableForm {
  std::string_view api_version = "meta.k8s.io/v1";  ///< or v1beta1's
  RowObject row_object = RowObject::kMetadata;
  bool headers = true;  ///< with the definitions of the columns
};

/// A table from its beginning up to the "[" of its rows, which the caller ends with "]}".
std::string TableHead(const ResourceType& type, const TableForm& form, std::string_view meta_json);

/// One row: cells and what the form wants of the object. `json` in the server's form.
apimachinery::Result<std::string> TableRow(const ResourceType& type, const TableForm& form,
                                           std::string_view json);

/// A table of one object.
apimachinery::Result<std::string> TableOf(const ResourceType& type, const TableForm& form,
                                          std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_TABLE_H_
