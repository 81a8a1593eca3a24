/// @file
/// Finalize: adds and handles a finalizer, at the start of a reconcile.
#ifndef KUBEXX_CONTROLLER_FINALIZER_H_
#define KUBEXX_CONTROLLER_FINALIZER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/rest/request.h"

namespace kubexx::controller {

/// How a reconcile continues after Finalize.
enum class Finalization : std::uint8_t {
  kStays,  ///< the object is not being deleted and has the finalizer: reconcile it
  kGoes,   ///< the object is being deleted and is cleaned up: nothing is left to do
};

/// @cond
namespace internal {

/// The merge patch that gives an object the finalizers of `wanted`, provided that it still has the
/// resource version of `wanted`. kInvalid when that is empty.
apimachinery::Result<std::string> FinalizersPatch(const ObjectMeta& wanted);

}  // namespace internal
/// @endcond

/// Makes sure that `clean_up` has succeeded before the API server removes the object. When the
/// object is not being deleted, Finalize adds `finalizer` to it on the server, unless it has the
/// finalizer already. When the object is being deleted and has the finalizer, Finalize calls
/// `clean_up` (`Result<void>(const T&)`), which removes everything that the reconciler created for
/// the object, and then removes the finalizer. The API server removes the object with its last
/// finalizer.
///
/// Finalize writes with a merge patch of nothing but the finalizers, for which a role needs the
/// verb `patch`: fields that T does not know stay as they are, and other changes that the program
/// has made to `object` are not written. Afterwards `object` is as stored; after an error it is as
/// it was.
///
/// `clean_up` must not fail when there is nothing left to remove, because it may be called again
/// after it has succeeded: when the write that removes the finalizer fails, and when the object
/// comes from a cache that has not seen that write yet. An object that is no longer there when the
/// finalizer is to be removed has gone, and counts as kGoes. Returns the error of `clean_up` or of
/// the write. kConflict means that the cache was out of date: return the error from the reconcile,
/// which the controller then retries. kInvalid, before anything is called or sent, when finalizers
/// have to change and `object` has no resourceVersion, because it was made by hand and not read:
/// the patch would replace a list that nobody has looked at, and with it the finalizers of others
/// (controller-runtime's MergeFromWithOptimisticLock refuses such an object, too). Create the
/// things that `clean_up` removes only after Finalize has returned kStays. Like
/// controller-runtime's controllerutil and kube-rs' finalizer.
template <class T, class F>
apimachinery::Result<Finalization> Finalize(const Client& client, T& object,
                                            std::string_view finalizer, F clean_up) {
  static_assert(std::is_invocable_r_v<apimachinery::Result<void>, F&, const T&>,
                "kubexx: Finalize takes a function Result<void>(const T&): end it with `return "
                "{};`");
  ObjectMeta wanted = object.metadata;
  const apimachinery::ObjectKey key{wanted.namespace_, wanted.name};
  if (!IsBeingDeleted(object)) {
    if (AddFinalizer(wanted, finalizer)) {
      KX_ASSIGN_OR_RETURN(std::string patch, internal::FinalizersPatch(wanted));
      KX_ASSIGN_OR_RETURN(object, client.Patch<T>(key, rest::PatchType::kMerge, std::move(patch)));
    }
    return Finalization::kStays;
  }
  if (RemoveFinalizer(wanted, finalizer)) {
    KX_ASSIGN_OR_RETURN(std::string patch, internal::FinalizersPatch(wanted));
    KX_RETURN_IF_ERROR(clean_up(static_cast<const T&>(object)));
    auto written = client.Patch<T>(key, rest::PatchType::kMerge, std::move(patch));
    if (!written && !apimachinery::IsObjectNotFound(written.error())) {
      return apimachinery::Fail(std::move(written).error());
    }
    if (written) {
      object = *std::move(written);
    }
  }
  return Finalization::kGoes;
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_FINALIZER_H_
