/// @file
/// CreateOrUpdate and CreateOrPatch: bring an object to the wanted state, whether or not it exists.
#ifndef KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_
#define KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/merge_patch.h"

namespace kubexx::controller {

/// What CreateOrUpdate and CreateOrPatch did.
enum class Operation : std::uint8_t { kNone, kCreated, kUpdated };

namespace internal {

/// Calls `mutate`, which changes the object that `metadata` belongs to. kInvalid when that changes
/// the object's name or namespace.
apimachinery::Result<void> Mutate(base::FunctionRef<apimachinery::Result<void>()> mutate,
                                  const api::meta::v1::ObjectMeta& metadata);

/// Reads the object from the cache and calls `mutate`. Creates the object when it does not exist;
/// otherwise calls `change` with the cached state when `mutate` changed anything.
template <class T, class F, class G>
apimachinery::Result<Operation> CreateOr(const Client& client, T& object, F& mutate, G change) {
  static_assert(std::is_invocable_r_v<apimachinery::Result<void>, F&, T&>,
                "kubexx: the function takes a T& and returns a Result<void>: end it with `return "
                "{};`");
  const auto existing = client.Get<T>({object.metadata.namespace_, object.metadata.name});
  if (existing) {
    object = **existing;
  } else if (existing.error().reason != apimachinery::Reason::kNotFound) {
    return apimachinery::Fail(existing.error());
  }
  KX_RETURN_IF_ERROR(
      Mutate([&]() -> apimachinery::Result<void> { return mutate(object); }, object.metadata));
  if (!existing) {
    KX_ASSIGN_OR_RETURN(object, client.Create(object));
    return Operation::kCreated;
  }
  if (object == **existing) {
    return Operation::kNone;
  }
  KX_RETURN_IF_ERROR(change(**existing));
  return Operation::kUpdated;
}

}  // namespace internal

/// Reads the object that `object` names from the cache into `object`, calls `mutate`
/// (`Result<void>(T&)`), which brings it to the wanted state, and creates or updates it on the
/// server when that changed anything. Afterwards `object` is as stored. kConflict from the update
/// means that the cache was out of date: return the error from the reconcile, which the controller
/// then retries. Like controller-runtime's function of this name.
template <class T, class F>
apimachinery::Result<Operation> CreateOrUpdate(const Client& client, T& object, F mutate) {
  return internal::CreateOr(client, object, mutate, [&](const T&) -> apimachinery::Result<void> {
    KX_ASSIGN_OR_RETURN(object, client.Update(object));
    return {};
  });
}

/// Like CreateOrUpdate, but sends a merge patch of what `mutate` changed instead of an update. It
/// keeps the fields that the patch does not have, also those that this program does not know, and
/// does not write the status. A patch without a list never conflicts, because the server does not
/// check the object's version then. A list is always sent whole, as T knows it, because merge
/// patches have no other way: a change in a list removes the fields that T does not know from all
/// of its elements, as an update does. Such a patch has the version of the cached object, so that
/// it does not undo another writer's change of the list: kConflict as with CreateOrUpdate. Of a
/// map, such as the labels, the patch has the changed and removed keys only, also when none is
/// left. Where the elements of a list belong to several writers use server-side apply,
/// kubernetes::ApplyObject.
template <class T, class F>
apimachinery::Result<Operation> CreateOrPatch(const Client& client, T& object, F mutate) {
  return internal::CreateOr(
      client, object, mutate, [&](const T& before) -> apimachinery::Result<void> {
        KX_ASSIGN_OR_RETURN(std::string patch, MergePatchKeepingLists(codec::EncodeJson(before),
                                                                      codec::EncodeJson(object),
                                                                      &codec::SchemaOf<T>()));
        KX_ASSIGN_OR_RETURN(object,
                            client.Patch<T>({before.metadata.namespace_, before.metadata.name},
                                            rest::PatchType::kMerge, std::move(patch)));
        return {};
      });
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_
