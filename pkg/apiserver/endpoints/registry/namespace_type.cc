#include "kubexx/apiserver/endpoints/registry/namespace_type.h"

namespace kubexx::apiserver {

bool IsNamespace(const ResourceType& type) { return type.Is("", "namespaces"); }

}  // namespace kubexx::apiserver
