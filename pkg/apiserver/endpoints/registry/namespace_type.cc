#include "kubexx/apiserver/endpoints/registry/namespace_type.h"

namespace kubexx::apiserver {

bool IsNamespace(const ResourceType& type) {
  return type.group.empty() && type.plural == "namespaces";
}

}  // namespace kubexx::apiserver
