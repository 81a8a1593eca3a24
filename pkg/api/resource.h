/// @file
/// From a type to the REST resource that serves it.
#ifndef KUBEXX_API_RESOURCE_H_
#define KUBEXX_API_RESOURCE_H_

#include "kubexx/apimachinery/group_version.h"

namespace kubexx::api {

/// Group, version, kind, plural and scope of T, so that generic code needs no more than the type:
/// `ResourceOf<core::v1::Pod>().plural` is "pods". The specialisation for a built-in type is in the
/// header resources.gen.h of its group version and needs no complete T; a custom resource needs one
/// by hand. Types that the API server serves under no resource of their own (lists, options,
/// Status) have none: using a deleted function, as when resources.gen.h is not included.
template <class T>
constexpr const apimachinery::ResourceInfo& ResourceOf() = delete;

/// Whether the resource of T has the subresource "status". The generated code says no for built-in
/// types without it; a custom resource without it may say so by a specialisation beside its
/// ResourceOf.
template <class T>
inline constexpr bool kHasStatus = true;

}  // namespace kubexx::api

#endif  // KUBEXX_API_RESOURCE_H_
