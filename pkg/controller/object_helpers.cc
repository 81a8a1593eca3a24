#include "kubexx/controller/object_helpers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kubexx/api/owner_reference.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::GroupVersionKind;
using apimachinery::Reason;
using apimachinery::ResourceInfo;
using apimachinery::Result;

std::string Describe(const ResourceInfo& resource, const ObjectMeta& metadata) {
  return std::string(resource.kind) + " " +
         (metadata.namespace_.empty() ? "" : metadata.namespace_ + "/") + metadata.name;
}

/// Whether the reference is to this owner, in any version of its API.
bool RefersTo(const OwnerReference& reference, const ObjectMeta& owner,
              const ResourceInfo& resource) {
  const auto kind = GroupVersionKind::FromApiVersionKind(reference.api_version, reference.kind);
  return kind.group == resource.group && kind.kind == resource.kind && reference.name == owner.name;
}

Result<void> CheckOwner(const ObjectMeta& owner, const ResourceInfo& resource,
                        const ObjectMeta& owned) {
  if (owner.uid.empty()) {
    return Fail(Reason::kInvalid,
                Describe(resource, owner) +
                    " cannot own an object: it has no uid, so it was not read from "
                    "the API server; read or create it first");
  }
  if (resource.namespaced && owned.namespace_.empty()) {
    return Fail(Reason::kInvalid, Describe(resource, owner) + " is namespaced and cannot own " +
                                      owned.name + ", which has no namespace");
  }
  if (resource.namespaced && owned.namespace_ != owner.namespace_) {
    return Fail(Reason::kInvalid, Describe(resource, owner) + " cannot own " + owned.name +
                                      " in another namespace, " + owned.namespace_);
  }
  return {};
}

}  // namespace

bool ContainsFinalizer(const ObjectMeta& metadata, std::string_view finalizer) {
  return std::ranges::find(metadata.finalizers, finalizer) != metadata.finalizers.end();
}

bool AddFinalizer(ObjectMeta& metadata, std::string_view finalizer) {
  if (ContainsFinalizer(metadata, finalizer)) {
    return false;
  }
  metadata.finalizers.emplace_back(finalizer);
  return true;
}

bool RemoveFinalizer(ObjectMeta& metadata, std::string_view finalizer) {
  return std::erase(metadata.finalizers, finalizer) > 0;
}

const OwnerReference* ControllerOf(const ObjectMeta& metadata) {
  const auto found = std::ranges::find_if(
      metadata.owner_references,
      [](const OwnerReference& reference) { return reference.controller.value_or(false); });
  return found == metadata.owner_references.end() ? nullptr : &*found;
}

Result<void> SetOwner(const ObjectMeta& owner, const ResourceInfo& owner_resource,
                      ObjectMeta& owned, bool controller, const OwnerOptions& options) {
  KX_RETURN_IF_ERROR(CheckOwner(owner, owner_resource, owned));
  if (const OwnerReference* const current = ControllerOf(owned);
      controller && current != nullptr && !RefersTo(*current, owner, owner_resource)) {
    return Fail(Reason::kConflict, "object " + owned.namespace_ + "/" + owned.name +
                                       " is controlled by " + current->kind + " " + current->name +
                                       " already");
  }
  OwnerReference reference = api::OwnerReferenceTo(owner_resource, owner.name, owner.uid);
  if (controller) {
    reference.controller = true;
  }
  if (options.block_owner_deletion) {
    reference.block_owner_deletion = true;
  }
  const auto found = std::ranges::find_if(owned.owner_references, [&](const OwnerReference& each) {
    return RefersTo(each, owner, owner_resource);
  });
  if (found == owned.owner_references.end()) {
    owned.owner_references.push_back(std::move(reference));
  } else {
    *found = std::move(reference);
  }
  return {};
}

bool RemoveOwner(const ObjectMeta& owner, const ResourceInfo& owner_resource, ObjectMeta& owned) {
  return std::erase_if(owned.owner_references, [&](const OwnerReference& each) {
           return RefersTo(each, owner, owner_resource);
         }) > 0;
}

}  // namespace kubexx::controller
