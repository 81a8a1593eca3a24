#include "kubexx/apiserver/endpoints/registry/definition_type.h"

#include "kubexx/apiserver/resources/builtin_types.h"

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
  return type.rules.duty == ServerDuty::kServeCustomTypes;
}

}  // namespace kubexx::apiserver
