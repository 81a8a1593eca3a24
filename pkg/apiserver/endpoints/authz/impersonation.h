/// @file
/// Acting as somebody else.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/authz/authorizer.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// The user whom the Impersonate-* headers name, when `user` may act as them; `user` without such
/// headers. kForbidden, kBadRequest. As kube-apiserver's impersonation by the verb "impersonate";
/// its constrained impersonation is not served.
apimachinery::Result<User> Impersonate(Authorizer& authorizer, const http::Request& request,
                                       const User& user);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_
