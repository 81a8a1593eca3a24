#include "kubexx/apiserver/endpoints/defaults/cluster_defaults.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/defaults/pod_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/set_default.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Adds the members of `from` that `to` lacks.
void Complete(const JsonTree* from, JsonTree& to) {
  if (from == nullptr) {
    return;
  }
  std::vector<JsonTree::Member> members(to.members().begin(), to.members().end());
  const codec::MemberIndex own(&to);
  for (const JsonTree::Member& member : from->members()) {
    if (own.Find(member.key) == nullptr) {
      members.push_back(member);
    }
  }
  to = JsonTree::Object(std::move(members));
}

}  // namespace

void SetNamespaceDefaults(JsonTree& object) {
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = MetaString(object, "name");
  SetDefault(object["status"], "phase", "Active");
}

void AddNamespaceFinalizer(JsonTree& object) {
  constexpr std::string_view kFinalizer = "kubernetes";
  const std::vector<std::string> given = StringsAt(object["spec"], "finalizers");
  if (std::ranges::find(given, kFinalizer) == given.end()) {
    object["spec"]["finalizers"].Append(kFinalizer);
  }
}

void SetSecretDefaults(JsonTree& object) {
  SetDefault(object, "type", "Opaque");
  if (const JsonTree* const plain = object.Find("stringData");
      plain != nullptr && plain->size() > 0) {
    std::vector<JsonTree::Member> encoded;
    for (const JsonTree::Member& member : plain->members()) {
      if (const std::string* const text = member.value.AsString()) {
        std::string bytes;
        codec::AppendBase64(*text, bytes);
        encoded.push_back({.key = member.key, .value = std::move(bytes)});
      }
    }
    JsonTree& data = object["data"];
    data = ApplyMergePatch(std::move(data), JsonTree::Object(std::move(encoded)));
  }
  object.Erase("stringData");
}

/// A container's default limit is its maximum, and its default request is its limit.
void SetLimitRangeDefaults(JsonTree& object) {
  JsonTree* const limits = object["spec"].Find("limits");
  if (limits == nullptr) {
    return;
  }
  for (JsonTree& limit : limits->elements()) {
    if (limit.TextAt("type") != "Container") {
      continue;
    }
    for (const auto& [to, from] :
         {std::pair("default", "max"), std::pair("defaultRequest", "default"),
          std::pair("defaultRequest", "min")}) {
      JsonTree completed = limit.Find(to) == nullptr ? JsonTree::Object() : *limit.Find(to);
      Complete(limit.Find(from), completed);
      if (completed.size() > 0) {
        limit[to] = std::move(completed);
      }
    }
  }
}

void SetPersistentVolumeDefaults(JsonTree& object) {
  SetVolumeSourceDefaults(object["spec"]);
  RoundAmounts(object["spec"], "capacity");
}

void SetPersistentVolumeClaimDefaults(JsonTree& object) {
  if (JsonTree* const resources = object["spec"].Find("resources")) {
    RoundResources(*resources);
  }
}

void SetAdmissionPolicyDefaults(JsonTree& object) {
  JsonTree* const constraints = object["spec"].Find("matchConstraints");
  if (constraints == nullptr || !constraints->IsObject()) {
    return;
  }
  SetMissing(*constraints, "matchPolicy", R"("Equivalent")");
  SetMissing(*constraints, "namespaceSelector", "{}");
  SetMissing(*constraints, "objectSelector", "{}");
  for (const char* const list : {"resourceRules", "excludeResourceRules"}) {
    if (JsonTree* const rules = constraints->Find(list)) {
      for (JsonTree& rule : rules->elements()) {
        SetMissing(rule, "scope", R"("*")");
      }
    }
  }
}

void SetPriorityLevelDefaults(JsonTree& object) {
  SetMissingBelow(object, {"spec", "limited"}, "lendablePercent", "0");
}

}  // namespace kubexx::apiserver
