/// @file
/// Functions that generate the C++ code of custom resources.
#ifndef KUBEXX_CRDGEN_EMIT_H_
#define KUBEXX_CRDGEN_EMIT_H_

#include <string>
#include <string_view>

#include "kubexx/crdgen/model.h"

namespace kubexx::crdgen {

/// Returns the default namespace of a version: example.com/v1 gives example_com::v1.
std::string NamespaceOf(const Version& version);

/// Returns the name of a version's files without ".h" and ".cc", for example website_v1.gen.
std::string FileNameOf(const Version& version);

/// Returns the header: structs with the descriptions of the definition, constants for the values of
/// its enumerations, and the resource, for use with kubernetes::ResourceClient and informers. If a
/// header of the user's declares the structs, it is included instead.
std::string HeaderOf(const Version& version, std::string_view namespace_);

/// Returns the source: special members and the codec's tables. If a header of the user's declares
/// the structs, they have their special members already; instead the compiler compares the type of
/// each member with that of its table.
std::string SourceOf(const Version& version, std::string_view namespace_);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_EMIT_H_
