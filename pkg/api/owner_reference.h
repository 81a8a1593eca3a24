/// @file
/// OwnerReferenceTo: the entry of an object's metadata that names one of its owners.
#ifndef KUBEXX_API_OWNER_REFERENCE_H_
#define KUBEXX_API_OWNER_REFERENCE_H_

#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"

namespace kubexx::api {

/// Returns a reference to the owner `name` with the UID `uid`, an object of `resource`. The
/// reference sets neither `controller` nor `blockOwnerDeletion`, unlike apimachinery's
/// metav1.NewControllerRef, which sets both; the caller sets them if need be. The function checks
/// nothing. A controller that has both objects should use controller::SetControllerReference, which
/// checks the owner. Thread-safe.
inline meta::v1::OwnerReference OwnerReferenceTo(const apimachinery::ResourceInfo& resource,
                                                 std::string_view name, std::string_view uid) {
  meta::v1::OwnerReference reference;
  reference.api_version = resource.ApiVersion();
  reference.kind = resource.kind;
  reference.name = name;
  reference.uid = uid;
  return reference;
}

}  // namespace kubexx::api

#endif  // KUBEXX_API_OWNER_REFERENCE_H_
