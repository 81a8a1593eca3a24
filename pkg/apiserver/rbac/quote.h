/// @file
/// Names in messages.
#ifndef KUBEXX_APISERVER_RBAC_QUOTE_H_
#define KUBEXX_APISERVER_RBAC_QUOTE_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver::rbac {

/// As Go's %q writes UTF-8: in quotes, with escapes for quotes, backslashes and control characters.
std::string Quoted(std::string_view text);

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_QUOTE_H_
