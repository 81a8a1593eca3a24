/// @file
/// Classifies errors of the API server: a missing right, a rule that denies a request, or neither.
#ifndef KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_
#define KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// Whether the server's authorization refused the request because the user lacks a right. The
/// refusal then holds for all objects that the right would cover. Returns false when admission
/// refused the request with the same reason Forbidden (a webhook, a ValidatingAdmissionPolicy, a
/// quota, a namespace that is being deleted): that concerns a single object, and no right helps.
/// Pure.
bool IsMissingRight(const apimachinery::Status& status);

/// Whether the server would refuse the same request again until somebody changes a rule, a right or
/// the object. Returns false for errors that pass by themselves, such as conflicts, errors of the
/// server, and credentials that are about to be renewed, and where the answer broke off before it
/// said why: the next one will say. Pure.
bool IsDenied(const apimachinery::Status& status);

/// Whether the server may accept the same write with other content: it has denied the write, and
/// not for want of a right. Pure.
bool IsContentDenied(const apimachinery::Status& status);

/// Whether the server may have made a write that failed with `status`, because there was no answer,
/// or the server or a proxy gave up waiting for one. Returns false for BeforeTheWrite. Pure.
bool MayHaveBeenMade(const apimachinery::Status& status);

/// The error of a request that came before a write and changes nothing itself, a read or a dry run,
/// as an error of the write: however it failed, the write has not been sent. Pure.
apimachinery::Status BeforeTheWrite(apimachinery::Status status);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_DENIAL_H_
