/// @file
/// Finalize: adds and handles a finalizer, at the start of a reconcile.
#ifndef KUBEXX_CONTROLLER_FINALIZER_H_
#define KUBEXX_CONTROLLER_FINALIZER_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::controller {

/// How a reconcile continues after Finalize.
enum class Finalization : std::uint8_t {
  kStays,  ///< the object is not being deleted and has the finalizer: reconcile it
  kGoes,   ///< the object is being deleted and is cleaned up: nothing is left to do
};

/// Makes sure that `clean_up` has succeeded before the API server removes the object. When the
/// object is not being deleted, Finalize adds `finalizer` to it and writes it, unless it has the
/// finalizer already. When the object is being deleted and has the finalizer, Finalize calls
/// `clean_up` (`Result<void>(const T&)`), which removes everything that the reconciler created for
/// the object, and then removes the finalizer. The API server removes the object with its last
/// finalizer.
///
/// When the write that removes the finalizer fails, `clean_up` is called again although it has
/// succeeded, so it must not fail when there is nothing left to remove. Afterwards `object` is as
/// stored. Returns the error of `clean_up` or of the write. kConflict means that the cache was out
/// of date: return the error from the reconcile, which the controller then retries. Create the
/// things that `clean_up` removes only after Finalize has returned kStays. Like
/// controller-runtime's controllerutil and kube-rs' finalizer.
template <class T, class F>
apimachinery::Result<Finalization> Finalize(const Client& client, T& object,
                                            std::string_view finalizer, F clean_up) {
  if (!IsBeingDeleted(object)) {
    if (AddFinalizer(object, finalizer)) {
      KX_ASSIGN_OR_RETURN(object, client.Update(object));
    }
    return Finalization::kStays;
  }
  if (ContainsFinalizer(object, finalizer)) {
    KX_RETURN_IF_ERROR(clean_up(static_cast<const T&>(object)));
    RemoveFinalizer(object, finalizer);
    KX_ASSIGN_OR_RETURN(object, client.Update(object));
  }
  return Finalization::kGoes;
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_FINALIZER_H_
