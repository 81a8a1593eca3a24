#include "kubexx/apiserver/object/conditions.h"

#include <map>
#include <utility>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kSince = "lastTransitionTime";

}  // namespace

JsonTree ConditionTree(std::string_view type, bool holds, std::string_view reason,
                       std::string_view message, std::string_view now) {
  JsonTree condition = JsonTree::Object();
  condition["type"] = type;
  condition["status"] = holds ? "True" : "False";
  condition[kSince] = now;
  condition["reason"] = reason;
  condition["message"] = message;
  return condition;
}

JsonTree PodConditionTree(std::string_view type, bool holds, std::string_view reason,
                          std::string_view message, std::string_view now) {
  JsonTree condition = JsonTree::Object();
  condition["type"] = type;
  condition["status"] = holds ? "True" : "False";
  condition["lastProbeTime"] = nullptr;
  condition[kSince] = now.empty() ? JsonTree() : JsonTree(now);
  if (!reason.empty()) {
    condition["reason"] = reason;
  }
  if (!message.empty()) {
    condition["message"] = message;
  }
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
      const JsonTree* const since = old.Find(kSince);
      if (since != nullptr && old.TextAt("status") == condition.TextAt("status")) {
        condition[kSince] = *since;
      }
      old = std::move(condition);
      return;
    }
  }
  conditions.Append(std::move(condition));
}

void SetConditionTimes(const JsonTree& current, std::string_view now, JsonTree& object) {
  JsonTree* const status = object.Find("status");
  JsonTree* const conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) {
    return;
  }
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> since;
  for (const JsonTree& old : ElementsAt(current, {"status", "conditions"})) {
    since[{old.TextAt("type"), old.TextAt("status")}] = old.TextAt(kSince);
  }
  for (JsonTree& one : conditions->elements()) {
    if (one.TextAt("lastUpdateTime").empty()) {
      one["lastUpdateTime"] = now;
    }
    if (one.TextAt(kSince).empty()) {
      const auto old = since.find({one.TextAt("type"), one.TextAt("status")});
      one[kSince] = old == since.end() ? now : old->second;
    }
  }
}

}  // namespace kubexx::apiserver
