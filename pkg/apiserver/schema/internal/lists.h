/// @file
/// Lists whose elements have an identity: sets and maps.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema::internal {

/// Appends the elements of sets and maps that are there twice, and embedded resources without kind
/// and apiVersion: what kube-apiserver checks after the schema. As many as a CauseList takes.
void CheckLists(const Schema& schema, const codec::JsonTree& value, const std::string& path,
                Budget& budget, std::vector<apimachinery::StatusCause>& causes);

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
