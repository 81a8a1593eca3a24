/// @file
/// The model of the code for the structs of a header.
#ifndef KUBEXX_CRDGEN_HEADER_MODEL_H_
#define KUBEXX_CRDGEN_HEADER_MODEL_H_

#include <string>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/model.h"
#include "kubexx/crdgen/resolved_header.h"

namespace kubexx::crdgen {

/// Returns the model of a kind whose structs are in a header that an #include names `include`. The
/// name of the resource and its subresources are those of `definition`, which has the version. Its
/// `names` are those that the generated code declares beside the header. kInvalid if the header has
/// one of them already.
apimachinery::Result<Version> ModelOfHeader(
    const ResolvedHeader& resolved,
    const api::apiextensions::v1::CustomResourceDefinition& definition, std::string include);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_MODEL_H_
