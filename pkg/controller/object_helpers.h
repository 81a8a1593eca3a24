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

/// Adds the finalizer to an object in memory; the caller has to write the object afterwards.
/// Returns whether the metadata changed.
bool AddFinalizer(ObjectMeta& metadata, std::string_view finalizer);
/// Removes the finalizer from an object in memory. Returns whether it was there.
bool RemoveFinalizer(ObjectMeta& metadata, std::string_view finalizer);
/// Whether the object has the finalizer.
bool ContainsFinalizer(const ObjectMeta& metadata, std::string_view finalizer);

/// AddFinalizer for a whole object.
template <class T>
bool AddFinalizer(T& object, std::string_view finalizer) {
  return AddFinalizer(object.metadata, finalizer);
}
/// RemoveFinalizer for a whole object.
template <class T>
bool RemoveFinalizer(T& object, std::string_view finalizer) {
  return RemoveFinalizer(object.metadata, finalizer);
}
/// ContainsFinalizer for a whole object.
template <class T>
bool ContainsFinalizer(const T& object, std::string_view finalizer) {
  return ContainsFinalizer(object.metadata, finalizer);
}

/// Whether somebody has deleted the object. It still exists until its last finalizer is removed.
template <class T>
bool IsBeingDeleted(const T& object) {
  return object.metadata.deletion_timestamp.has_value();
}

/// Settings of an owner reference.
struct OwnerOptions {
  /// Whether a foreground deletion of the owner waits for the object.
  bool block_owner_deletion = true;
};

/// The untyped implementation of the functions below.
apimachinery::Result<void> SetOwner(const ObjectMeta& owner,
                                    const apimachinery::ResourceInfo& owner_resource,
                                    ObjectMeta& owned, bool controller,
                                    const OwnerOptions& options);
/// The untyped implementation of RemoveOwnerReference.
bool RemoveOwner(const ObjectMeta& owner, const apimachinery::ResourceInfo& owner_resource,
                 ObjectMeta& owned);

/// Makes `owner` the controller of `owned` in memory, so that the API server deletes `owned` after
/// its owner, and ControllerBuilder::Owns finds the owner. An existing reference to `owner` is
/// brought up to date. kInvalid when `owner` has no uid (because it was not read from the server),
/// is in another namespace, or is namespaced while `owned` is not; kConflict when `owned` has
/// another controller. Like controller-runtime's.
template <class Owner, class T>
apimachinery::Result<void> SetControllerReference(const Owner& owner, T& owned,
                                                  const OwnerOptions& options = {}) {
  return SetOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata, true, options);
}

/// Adds `owner` to the owners of `owned` without making it the controller; otherwise like
/// SetControllerReference.
template <class Owner, class T>
apimachinery::Result<void> SetOwnerReference(const Owner& owner, T& owned,
                                             const OwnerOptions& options = {
                                                 .block_owner_deletion = false}) {
  return SetOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata, false, options);
}

/// Removes the owner reference to `owner` from `owned` in memory. Returns whether there was one.
template <class Owner, class T>
bool RemoveOwnerReference(const Owner& owner, T& owned) {
  return RemoveOwner(owner.metadata, api::ResourceOf<Owner>(), owned.metadata);
}

/// The owner reference to the object's controller; null when there is none. The pointer is valid as
/// long as `metadata`.
const OwnerReference* ControllerOf(const ObjectMeta& metadata);

/// Whether the object with that uid is an owner.
inline bool IsOwnedBy(const ObjectMeta& metadata, std::string_view owner_uid) {
  return std::ranges::find(metadata.owner_references, owner_uid, &OwnerReference::uid) !=
         metadata.owner_references.end();
}

/// Whether the object has a controller.
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
