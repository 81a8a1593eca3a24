#include "kubexx/apiserver/endpoints/validation/objects/immutable_fields.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

const JsonTree* FieldOf(const JsonTree& object, std::string_view path) {
  const JsonTree* value = &object;
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = value->Find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return value;
}

}  // namespace

void CheckImmutable(const ResourceType& type, const JsonTree& current, const JsonTree& object,
                    FieldCauses& causes) {
  const TypeBehavior& behavior = BehaviorOf(type);
  for (const ImmutableField& one : behavior.immutable_fields) {
    const JsonTree* const now = FieldOf(object, one.field);
    if (!SameMember(FieldOf(current, one.field), now)) {
      causes.Invalid(std::string(one.told), JsonOrNull(now), "field is immutable");
    }
  }
  if (behavior.check_change != nullptr) {
    behavior.check_change(current, object, causes);
  }
}

}  // namespace kubexx::apiserver
