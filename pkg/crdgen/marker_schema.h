/// @file
/// What markers say in a schema.
#ifndef KUBEXX_CRDGEN_MARKER_SCHEMA_H_
#define KUBEXX_CRDGEN_MARKER_SCHEMA_H_

#include <span>
#include <string_view>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/marker.h"

namespace kubexx::crdgen {

/// Writes what the markers of a member, an alias or a struct say into the schema of the value,
/// which has what its type and its alias say already. Markers that are not about a schema are
/// skipped. kInvalid, with `path` and the line of the marker, for a marker that does not fit the
/// type, that says again what the schema has, or that the API server would refuse.
apimachinery::Result<void> ApplyMarkers(std::span<const Marker> markers, std::string_view path,
                                        api::apiextensions::v1::JSONSchemaProps& schema);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MARKER_SCHEMA_H_
