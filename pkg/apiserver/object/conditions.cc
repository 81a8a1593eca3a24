#include "kubexx/apiserver/object/conditions.h"

#include <utility>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {

using codec::JsonTree;

JsonTree ConditionTree(std::string_view type, bool holds, std::string_view reason,
                       std::string_view message, std::string_view now) {
  JsonTree condition = JsonTree::Object();
  condition["type"] = type;
  condition["status"] = holds ? "True" : "False";
  condition["lastTransitionTime"] = now;
  condition["reason"] = reason;
  condition["message"] = message;
  return condition;
}

const JsonTree* FindCondition(const JsonTree& object, std::string_view type) {
  for (const JsonTree& condition : ElementsAt(object, {"status", "conditions"})) {
    if (condition.TextAt("type") == type) {
      return &condition;
    }
  }
  return nullptr;
}

bool ConditionHolds(const JsonTree& object, std::string_view type) {
  const JsonTree* const condition = FindCondition(object, type);
  return condition != nullptr && condition->TextAt("status") == "True";
}

void SetCondition(JsonTree condition, JsonTree& object) {
  JsonTree& conditions = object["status"]["conditions"];
  for (JsonTree& old : conditions.elements()) {
    if (old.TextAt("type") == condition.TextAt("type")) {
      const JsonTree* const since = old.Find("lastTransitionTime");
      if (since != nullptr && old.TextAt("status") == condition.TextAt("status")) {
        condition["lastTransitionTime"] = *since;
      }
      old = std::move(condition);
      return;
    }
  }
  conditions.Append(std::move(condition));
}

}  // namespace kubexx::apiserver
