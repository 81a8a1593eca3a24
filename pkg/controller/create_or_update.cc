#include "kubexx/controller/create_or_update.h"

#include "kubexx/apimachinery/object_key.h"

namespace kubexx::controller::internal {

apimachinery::Result<void> Mutate(base::FunctionRef<apimachinery::Result<void>()> mutate,
                                  const api::meta::v1::ObjectMeta& metadata) {
  const apimachinery::ObjectKey key{metadata.namespace_, metadata.name};
  KX_RETURN_IF_ERROR(mutate());
  if (metadata.namespace_ != key.namespace_ || metadata.name != key.name) {
    return apimachinery::Fail(
        apimachinery::Reason::kInvalid,
        "the function that changes " + key.ToString() + " must not change its name or namespace");
  }
  return {};
}

}  // namespace kubexx::controller::internal
