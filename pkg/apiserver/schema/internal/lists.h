/// @file
/// Checks of lists whose elements have an identity: sets and maps.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema::internal {

/// Appends causes for duplicate elements of sets and maps, and for embedded resources without kind
/// or apiVersion. kube-apiserver checks these after the schema. Appends as many as a CauseList
/// accepts.
void CheckLists(const Schema& schema, const codec::JsonTree& value, const std::string& path,
                Budget& budget, std::vector<apimachinery::StatusCause>& causes);

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
