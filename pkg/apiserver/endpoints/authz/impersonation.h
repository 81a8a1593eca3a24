/// @file
/// Impersonation: a user acts as another user.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/authz/authorizer.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Returns the user whom the Impersonate-* headers name, if `user` may act as that user; returns
/// `user` when there are no such headers. Returns kForbidden when the user may not, and kBadRequest
/// for invalid headers. Semantics: kube-apiserver's impersonation by the verb "impersonate",
/// without its constrained impersonation.
apimachinery::Result<User> Impersonate(Authorizer& authorizer, const http::Request& request,
                                       const User& user);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHZ_IMPERSONATION_H_
