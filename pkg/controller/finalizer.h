/// @file
/// The way of an object with a finalizer: what a reconcile does before it looks at anything else.
#ifndef KUBEXX_CONTROLLER_FINALIZER_H_
#define KUBEXX_CONTROLLER_FINALIZER_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::controller {

/// How a reconcile goes on after Finalize.
enum class Finalization : std::uint8_t {
  kStays,  ///< nobody wants the object gone, and it has the finalizer: reconcile it
  kGoes,   ///< it is being deleted, and what the finalizer was for is done: nothing is left to do
};

/// Sees to it that `clean_up` has succeeded before the object goes. An object that nobody deletes
/// gets `finalizer`, by one write if it has none yet. Of one that is being deleted and has it,
/// `clean_up` (`Result<void>(const T&)`) takes away what the object stands for; when that has
/// succeeded the finalizer is removed, and with the last one the API server removes the object.
/// `clean_up` may be called again after it has succeeded, when that write fails: what is not there
/// any more is no error. Afterwards `object` is as stored. Fails with `clean_up` and with the
/// write; kConflict means that the cache was behind: return it from the reconcile, which is then
/// tried again. Create what `clean_up` takes away only after Finalize has said kStays. As
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
