/// @file
/// What an error of the API server says: a right that is missing, somebody's rule, or nothing.
#ifndef KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_
#define KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// Whether the server's authorization refused the request: the user lacks the right, for all
/// objects that it speaks of. False for what admission refuses with the same reason Forbidden (a
/// webhook, a ValidatingAdmissionPolicy, a quota, a namespace that is being deleted): that is about
/// one object, and no right helps. Pure.
bool IsMissingRight(const apimachinery::Status& status);

/// Whether the same request would be refused again until somebody changes a rule, a right or the
/// object: the server has understood it and will not have it. False for what passes by itself, as
/// conflicts, errors of the server and credentials that are renewed do. Pure.
bool IsDenied(const apimachinery::Status& status);

/// Whether the server may have made the write that ended so: there was no answer, or that of a
/// server or proxy that gave up waiting for one. Pure.
bool MayHaveBeenMade(const apimachinery::Status& status);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_
