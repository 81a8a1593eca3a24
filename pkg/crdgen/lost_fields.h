/// @file
/// Fields of a version that are not stored.
#ifndef KUBEXX_CRDGEN_LOST_FIELDS_H_
#define KUBEXX_CRDGEN_LOST_FIELDS_H_

#include <string>
#include <vector>

#include "kubexx/api/apiextensions/v1/types.gen.h"

namespace kubexx::crdgen {

/// Returns the paths of the fields that `version` has and the stored version lacks, such as
/// "spec.rules[*].weight", in their order in the schema; a field that is lost as a whole is one
/// path. Without a conversion the API server drops these fields of whatever is written.
std::vector<std::string> LostFields(const api::apiextensions::v1::JSONSchemaProps& version,
                                    const api::apiextensions::v1::JSONSchemaProps& stored);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_LOST_FIELDS_H_
