/// @file
/// Names in messages.
#ifndef KUBEXX_APISERVER_RBAC_QUOTE_H_
#define KUBEXX_APISERVER_RBAC_QUOTE_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver::rbac {

/// Quotes a UTF-8 text as Go's %q does, with escapes for quotes, backslashes and control
/// characters.
std::string Quoted(std::string_view text);

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_QUOTE_H_
