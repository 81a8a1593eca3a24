#include "kubexx/apiserver/endpoints/validation/objects/object_names.h"

#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/checks/name_rules.h"

namespace kubexx::apiserver {

std::string NameProblem(const ResourceType& type, std::string_view name) {
  auto* const rule = BehaviorOf(type).name_problem;
  return rule == nullptr ? SubdomainNameProblem(name) : rule(name);
}

}  // namespace kubexx::apiserver
