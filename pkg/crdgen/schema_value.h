/// @file
/// Compares values with schemas.
#ifndef KUBEXX_CRDGEN_SCHEMA_VALUE_H_
#define KUBEXX_CRDGEN_SCHEMA_VALUE_H_

#include <string>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::crdgen {

/// Returns what keeps `value` from being a value of `schema`, by its types, fields and
/// enumerations; "" if nothing does. Bounds, patterns and rules are left to the API server.
std::string MisfitOf(const codec::JsonTree& value,
                     const api::apiextensions::v1::JSONSchemaProps& schema);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_SCHEMA_VALUE_H_
