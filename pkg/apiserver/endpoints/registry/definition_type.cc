#include "kubexx/apiserver/endpoints/registry/definition_type.h"

namespace kubexx::apiserver {

const ResourceTypeRef& DefinitionType() {
  static const ResourceTypeRef kType = [] {
    for (const ResourceTypeRef& type : BuiltinTypes()) {
      if (IsCustomResourceDefinition(*type)) {
        return type;
      }
    }
    return ResourceTypeRef();
  }();
  return kType;
}

bool IsCustomResourceDefinition(const ResourceType& type) {
  return type.group == "apiextensions.k8s.io" && type.plural == "customresourcedefinitions";
}

}  // namespace kubexx::apiserver
