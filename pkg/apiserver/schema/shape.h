/// @file
/// Giving an object the shape of its schema: without fields that are not in it, with defaults.
#ifndef KUBEXX_APISERVER_SCHEMA_SHAPE_H_
#define KUBEXX_APISERVER_SCHEMA_SHAPE_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Takes out the members of a whole object that the schema does not know; apiVersion, kind and
/// metadata stay. With `dropped`, appends their paths ("spec.ports[0].x").
void Prune(const Schema& schema, codec::JsonTree& object,
           std::vector<std::string>* dropped = nullptr);

/// Fills in defaults where a member is missing, or null without being nullable, and takes out
/// other such nulls.
void SetDefaults(const Schema& schema, codec::JsonTree& value);

/// Prune for a value that is no whole object: a default.
void PruneValue(const Schema& schema, codec::JsonTree& value, std::vector<std::string>* dropped);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_SHAPE_H_
