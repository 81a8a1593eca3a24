#include "kubexx/apiserver/endpoints/validation/cluster/certificate_decisions.h"

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::vector<JsonTree> DecisionsOf(const JsonTree& object, std::string_view type) {
  std::vector<JsonTree> found;
  for (const JsonTree& one : ElementsAt(object, {"status", "conditions"})) {
    if (one.TextAt("type") == type) {
      found.push_back(one);
    }
  }
  return found;
}

}  // namespace

void CheckCertificateDecisions(WritePart part, const JsonTree& current, const JsonTree& object,
                               FieldCauses& causes) {
  constexpr const char* kField = "status.conditions";
  for (const char* const type : {"Approved", "Denied", "Failed"}) {
    const auto before = DecisionsOf(current, type);
    const auto after = DecisionsOf(object, type);
    const std::string named = std::string(" a condition of type \"") + type + "\"";
    const bool decision = std::string_view(type) != "Failed";
    if (after.size() < before.size()) {
      causes.Forbidden(kField, "updates may not remove" + named);
    } else if (part != WritePart::kApproval && decision && after.size() > before.size()) {
      causes.Forbidden(kField, "updates may not add" + named);
    }
    for (const JsonTree& one : after) {
      if (one.TextAt("status") != "True") {
        causes.NotSupported(kField, JsonTree(one.TextAt("status")).ToJson(), "\"True\"");
      }
    }
  }
  if (!DecisionsOf(object, "Approved").empty() && !DecisionsOf(object, "Denied").empty()) {
    causes.Invalid(kField, "\"Denied\"", "Approved and Denied conditions are mutually exclusive");
  }
}

void KeepCertificateDecisions(const JsonTree& current, JsonTree& object) {
  JsonTree* const status = object.Find("status");
  JsonTree* const conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) {
    return;
  }
  for (const char* const type : {"Approved", "Denied"}) {
    const auto before = DecisionsOf(current, type);
    if (before.size() != DecisionsOf(object, type).size()) {
      continue;  // such a decision is refused
    }
    auto old = before.begin();
    for (JsonTree& one : conditions->elements()) {
      if (one.TextAt("type") == type) {
        one = *old++;
      }
    }
  }
}

}  // namespace kubexx::apiserver
