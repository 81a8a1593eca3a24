/// @file
/// From a type to the REST resource that serves it.
#ifndef KUBEXX_API_RESOURCE_H_
#define KUBEXX_API_RESOURCE_H_

#include "kubexx/apimachinery/group_version.h"

namespace kubexx::api {

/// @cond
namespace internal {

/// False for every type. The static assertion for a T without a specialisation uses it, so that the
/// assertion depends on T.
template <class T>
inline constexpr bool kIsKnown = false;
inline constexpr apimachinery::ResourceInfo kNoResource{};

}  // namespace internal
/// @endcond

/// Group, version, kind, plural and scope of T, so that generic code needs no more than the type:
/// `ResourceOf<core::v1::Pod>().plural` is "pods". The specialisation for a built-in type is in the
/// header resources.gen.h of its group version and needs no complete T; that of a custom resource
/// comes from kubexx-codegen. Types that the API server serves under no resource of their own
/// (lists, options, Status) have no specialisation. ResourceOf does not compile for these, nor for
/// a built-in type whose resources.gen.h is not included.
template <class T>
constexpr const apimachinery::ResourceInfo& ResourceOf() {
  static_assert(internal::kIsKnown<T>,
                "kubexx: no resource is known for this type. Include the resources.gen.h of its "
                "group and version, or for a custom resource the header made from its CRD.");
  return internal::kNoResource;
}

/// Whether the resource of T has the subresource "status". The generated code says no for built-in
/// types without it; a custom resource without it may say so by a specialisation beside its
/// ResourceOf.
template <class T>
inline constexpr bool kHasStatus = true;

}  // namespace kubexx::api

#endif  // KUBEXX_API_RESOURCE_H_
