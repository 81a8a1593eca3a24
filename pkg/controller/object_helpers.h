/// @file
/// Finalizers and owner references.
#ifndef KUBEXX_CONTROLLER_OBJECT_HELPERS_H_
#define KUBEXX_CONTROLLER_OBJECT_HELPERS_H_

#include <algorithm>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::controller {

using api::meta::v1::ObjectMeta;
using api::meta::v1::OwnerReference;

/// Of an object in memory: write it afterwards. These return whether it changed.
bool AddFinalizer(ObjectMeta& metadata, std::string_view finalizer);
/// Returns whether it was there.
bool RemoveFinalizer(ObjectMeta& metadata, std::string_view finalizer);
/// Whether it is there.
bool ContainsFinalizer(const ObjectMeta& metadata, std::string_view finalizer);

/// The same for a whole object.
template <class T>
bool AddFinalizer(T& object, std::string_view finalizer) {
  return AddFinalizer(object.metadata, finalizer);
}
/// The same for a whole object.
template <class T>
bool RemoveFinalizer(T& object, std::string_view finalizer) {
  return RemoveFinalizer(object.metadata, finalizer);
}
/// The same for a whole object.
template <class T>
bool ContainsFinalizer(const T& object, std::string_view finalizer) {
  return ContainsFinalizer(object.metadata, finalizer);
}

/// Whether somebody wants the object gone; it stays until its last finalizer is removed.
template <class T>
bool IsBeingDeleted(const T& object) {
  return object.metadata.deletion_timestamp.has_value();
}

/// How an owner reference is set.
struct OwnerOptions {
  /// Whether a foreground deletion of the owner waits for the object.
  bool block_owner_deletion = true;
};

/// The untyped core of the functions below.
apimachinery::Result<void> SetOwner(const ObjectMeta& owner,
                                    const apimachinery::ResourceInfo& owner_resource,
                                    ObjectMeta& owned, bool controller,
                                    const OwnerOptions& options);
/// Whether there was one.
bool RemoveOwner(const ObjectMeta& owner, const apimachinery::ResourceInfo& owner_resource,
                 ObjectMeta& owned);

/// Makes `owner` the controller of `owned` in memory, so that the API server deletes it after its
/// owner and Owns<>() finds the way back. A reference that is there is brought up to date. kInvalid
/// when `owner` has no uid (it was not read from the server), is in another namespace, or is
/// namespaced and `owned` is not; kConflict when `owned` has another controller. As
/// controller-runtime's.
template <class Owner, class T>
apimachinery::Result<void> SetControllerReference(const Owner& owner, T& owned,
                                                  const OwnerOptions& options = {}) {
  return SetOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata, true, options);
}

/// The same for an owner that is one of several and controls nothing.
template <class Owner, class T>
apimachinery::Result<void> SetOwnerReference(const Owner& owner, T& owned,
                                             const OwnerOptions& options = {
                                                 .block_owner_deletion = false}) {
  return SetOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata, false, options);
}

/// Whether there was one.
template <class Owner, class T>
bool RemoveOwnerReference(const Owner& owner, T& owned) {
  return RemoveOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata);
}

/// The reference to the controller; null when there is none. It lives as long as `metadata`.
const OwnerReference* ControllerOf(const ObjectMeta& metadata);

/// Whether the object with that uid is one of the owners.
inline bool IsOwnedBy(const ObjectMeta& metadata, std::string_view owner_uid) {
  return std::ranges::find(metadata.owner_references, owner_uid, &OwnerReference::uid) !=
         metadata.owner_references.end();
}

/// Whether some object controls this one.
template <class T>
bool HasControllerReference(const T& object) {
  return ControllerOf(object.metadata) != nullptr;
}

/// Whether `owner` (this very object, by its uid) controls `object`.
template <class Owner, class T>
bool IsControlledBy(const T& object, const Owner& owner) {
  const OwnerReference* const controller = ControllerOf(object.metadata);
  return controller != nullptr && controller->uid == owner.metadata.uid;
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_OBJECT_HELPERS_H_
