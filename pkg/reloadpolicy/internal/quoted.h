/// @file
/// Values as messages show them.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_

#include <string>
#include <string_view>

#include "kubexx/base/utf8.h"

namespace kubexx::reloadpolicy::internal {

/// The value in quotes, at most 64 bytes of it, cut between characters: half a character would be
/// another text once it has been written to a policy's status and read back.
inline std::string Quoted(std::string_view value) { return "\"" + base::CutUtf8(value, 64) + "\""; }

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_
