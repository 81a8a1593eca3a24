/// @file
/// Writes the C++ code of custom resources.
#ifndef KUBEXX_CRDGEN_EMIT_H_
#define KUBEXX_CRDGEN_EMIT_H_

#include <string>
#include <string_view>

#include "kubexx/crdgen/model.h"

namespace kubexx::crdgen {

/// The namespace of a version where none is asked for: example.com/v1 gives example_com::v1.
std::string NamespaceOf(const Version& version);

/// The name of its files without ".h" and ".cc": website_v1.gen.
std::string FileNameOf(const Version& version);

/// The header: structs with the descriptions of the definition, the values of its enumerations as
/// constants, and the resource, ready for kubernetes::ResourceClient and informers.
std::string HeaderOf(const Version& version, std::string_view namespace_);

/// The source: special members and the tables of the codec.
std::string SourceOf(const Version& version, std::string_view namespace_);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_EMIT_H_
