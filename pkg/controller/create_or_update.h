/// @file
/// Makes an object be as wanted, whether it exists or not.
#ifndef KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_
#define KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_

#include <cstdint>
#include <string>
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

/// Calls `mutate`, which changes an object; kInvalid when that changes its name or namespace.
apimachinery::Result<void> Mutate(base::FunctionRef<apimachinery::Result<void>()> mutate,
                                  const api::meta::v1::ObjectMeta& metadata);

/// Reads the object from the cache, or creates it; hands what exists to `change`.
template <class T, class F, class G>
apimachinery::Result<Operation> CreateOr(const Client& client, T& object, F& mutate, G change) {
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

/// Reads the object that `object` names from the cache into `object`, lets `mutate`
/// (`Result<void>(T&)`) bring it to the wanted state, and creates or updates it when that changed
/// anything; afterwards `object` is as stored. kConflict, from the update, means that the cache was
/// behind: return it from the reconcile, which is then tried again. As controller-runtime's.
template <class T, class F>
apimachinery::Result<Operation> CreateOrUpdate(const Client& client, T& object, F mutate) {
  return internal::CreateOr(client, object, mutate, [&](const T&) -> apimachinery::Result<void> {
    KX_ASSIGN_OR_RETURN(object, client.Update(object));
    return {};
  });
}

/// The same with a merge patch of what `mutate` changed instead of an update: no conflicts, and
/// what this program does not know of the object stays. The object's version is not checked. Its
/// status is not written.
template <class T, class F>
apimachinery::Result<Operation> CreateOrPatch(const Client& client, T& object, F mutate) {
  return internal::CreateOr(
      client, object, mutate, [&](const T& before) -> apimachinery::Result<void> {
        KX_ASSIGN_OR_RETURN(std::string patch, MergePatchBetween(codec::EncodeJson(before),
                                                                 codec::EncodeJson(object)));
        KX_ASSIGN_OR_RETURN(object,
                            client.Patch<T>({before.metadata.namespace_, before.metadata.name},
                                            rest::PatchType::kMerge, std::move(patch)));
        return {};
      });
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CREATE_OR_UPDATE_H_
