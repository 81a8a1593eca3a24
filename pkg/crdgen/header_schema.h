/// @file
/// The OpenAPI schema of a kind that a header declares.
#ifndef KUBEXX_CRDGEN_HEADER_SCHEMA_H_
#define KUBEXX_CRDGEN_HEADER_SCHEMA_H_

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/resolved_header.h"

namespace kubexx::crdgen {

/// Returns the schema that controller-gen would write. kInvalid if a marker does not fit its type,
/// or if the schema would be larger than what an API server can store.
apimachinery::Result<api::apiextensions::v1::JSONSchemaProps> SchemaOfHeader(
    const ResolvedHeader& resolved);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_SCHEMA_H_
