/// @file
/// Quoted: formats values for messages.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_

#include <string>
#include <string_view>

#include "kubexx/base/utf8.h"

namespace kubexx::reloadpolicy::internal {

/// Returns the value in quotes, with at most 64 of its bytes, cut between characters. Half a
/// character would become another text when it is written to a policy's status and read back.
inline std::string Quoted(std::string_view value) { return "\"" + base::CutUtf8(value, 64) + "\""; }

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_QUOTED_H_
