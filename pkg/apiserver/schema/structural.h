/// @file
/// Whether the schema of a definition is structural: what may stand in it, and where.
#ifndef KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_
#define KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Appends what keeps an openAPIV3Schema, which is at `path` in its definition, from being
/// structural: fields without a type, keywords that are not supported, patterns that are no
/// expressions, defaults that do not fit, and so on, as apiextensions-apiserver's validation.
/// `patterns`: those of the whole definition.
void CheckStructural(const codec::JsonTree& schema, const std::string& path, Patterns& patterns,
                     std::vector<apimachinery::StatusCause>& causes);

/// Whether there are rules in it that this server does not evaluate (x-kubernetes-validations).
bool HasRules(const codec::JsonTree& schema);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_
