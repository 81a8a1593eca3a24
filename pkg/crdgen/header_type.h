/// @file
/// Reads the types of members in a header.
#ifndef KUBEXX_CRDGEN_HEADER_TYPE_H_
#define KUBEXX_CRDGEN_HEADER_TYPE_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/header_cursor.h"

namespace kubexx::crdgen {

/// What to do without a word that can begin no member and no type; "" if it can.
std::string_view AdviceForWord(std::string_view word);

/// Reads the type that begins here, and goes over it. kInvalid for what is no type, and for
/// pointers and references.
apimachinery::Result<HeaderType> ReadHeaderType(HeaderCursor& cursor);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_TYPE_H_
