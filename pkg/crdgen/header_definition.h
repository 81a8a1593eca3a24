/// @file
/// The CustomResourceDefinition of a kind that headers declare.
#ifndef KUBEXX_CRDGEN_HEADER_DEFINITION_H_
#define KUBEXX_CRDGEN_HEADER_DEFINITION_H_

#include <span>
#include <string>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/resolved_header.h"

namespace kubexx::crdgen {

/// Returns the definition of a kind, of which each header has a version. It is what controller-gen
/// writes for the same types in Go, without the annotation with its own version. kInvalid if
/// markers contradict each other or the types, if the headers do not agree about the names and the
/// scope of the kind, if two have the same version, and if not exactly one is the version that is
/// stored. `versions` must not be empty, and all must have the same group and kind.
apimachinery::Result<api::apiextensions::v1::CustomResourceDefinition> DefinitionOf(
    std::span<const ResolvedHeader> versions);

/// Returns the name of a definition's file, for example example.com_websites.yaml.
std::string FileNameOf(const api::apiextensions::v1::CustomResourceDefinition& definition);

/// Returns the definition as YAML.
std::string YamlOf(const api::apiextensions::v1::CustomResourceDefinition& definition);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_DEFINITION_H_
