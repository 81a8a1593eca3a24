#include "kubexx/apiserver/endpoints/admission/default_tolerations.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr int kSeconds = 300;

/// Whether these tolerations already specify how long the pod stays on a node with the taint `key`.
bool Covers(const JsonTree& tolerations, std::string_view key) {
  return std::ranges::any_of(tolerations.elements(), [key](const JsonTree& one) {
    const std::string_view effect = one.TextAt("effect");
    const std::string_view of = one.TextAt("key");
    return (of.empty() || of == key) && (effect.empty() || effect == "NoExecute");
  });
}

}  // namespace

bool IsPodWrite(const Call& call) {
  return call.type->Is("", "pods") && call.info.subresource.empty();
}

void GiveTolerations(JsonTree& pod) {
  JsonTree& spec = pod["spec"];
  for (const char* const key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (const JsonTree* const given = spec.Find("tolerations");
        given != nullptr && Covers(*given, key)) {
      continue;
    }
    JsonTree toleration = JsonTree::Object();
    toleration["key"] = key;
    toleration["operator"] = "Exists";
    toleration["effect"] = "NoExecute";
    toleration["tolerationSeconds"] = kSeconds;
    spec["tolerations"].Append(std::move(toleration));
  }
}

}  // namespace kubexx::apiserver
