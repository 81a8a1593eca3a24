#include "kubexx/apiserver/schema/definition.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/json_path.h"
#include "kubexx/apiserver/schema/structural.h"
#include "kubexx/apiserver/schema/version_fields.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

constexpr const char* kLabelRule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character";

std::string TextAt(const JsonTree& tree, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = tree.At(path);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? "" : *text;
}

bool Flag(const JsonTree& tree, std::string_view name) {
  const JsonTree* const found = tree.Find(name);
  return found != nullptr && found->AsBool().value_or(false);
}

/// Whether it is a DNS label that begins with a letter.
bool IsLabel(std::string_view text) {
  return apimachinery::IsDnsLabel(text) && text.front() >= 'a';
}

void CheckLabel(const JsonTree& names, const char* field, CauseList& causes) {
  const std::string path = std::string("spec.names.") + field;
  const std::string_view value = names.TextAt(field);
  if (value.empty()) {
    causes.Add(RequiredCause(path));
  } else if (!IsLabel(base::ToLower(value)) ||
             (std::string_view(field) == "plural" && base::ToLower(value) != value)) {
    causes.Add(InvalidCause(path, value, kLabelRule));
  }
}

void CheckNames(const JsonTree& definition, CauseList& causes) {
  const std::string group = TextAt(definition, {"spec", "group"});
  const std::string plural = TextAt(definition, {"spec", "names", "plural"});
  const std::string name = TextAt(definition, {"metadata", "name"});
  if (name != plural + "." + group) {
    causes.Add(InvalidCause("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    causes.Add(RequiredCause("spec.group"));
  } else if (!apimachinery::IsDnsSubdomain(group)) {
    causes.Add(InvalidCause("spec.group", group, "must be a lower case DNS subdomain"));
  } else if (group.find('.') == std::string::npos) {
    causes.Add(InvalidCause("spec.group", group, "should be a domain with at least one dot"));
  }
  const std::string scope = TextAt(definition, {"spec", "scope"});
  if (scope.empty()) {
    causes.Add(RequiredCause("spec.scope"));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    causes.Add(
        NotSupportedCause("spec.scope", scope, {JsonTree("Cluster"), JsonTree("Namespaced")}));
  }
  const JsonTree* const names = definition.At({"spec", "names"});
  if (names == nullptr) {
    causes.Add(RequiredCause("spec.names"));
    return;
  }
  for (const char* const field : {"plural", "singular", "kind", "listKind"}) {
    CheckLabel(*names, field, causes);
  }
  if (!names->TextAt("kind").empty() && names->TextAt("kind") == names->TextAt("listKind")) {
    causes.Add(InvalidCause("spec.names.listKind", names->TextAt("listKind"),
                            "kind and listKind may not be the same"));
  }
  for (const char* const list : {"shortNames", "categories"}) {
    const JsonTree* const found = names->Find(list);
    for (std::size_t i = 0; found != nullptr && i < found->elements().size() && !causes.full();
         ++i) {
      const std::string* const text = found->elements()[i].AsString();
      if (text != nullptr && !IsLabel(*text)) {
        causes.Add(InvalidCause(std::string("spec.names.") + list + "[" + std::to_string(i) + "]",
                                *text, kLabelRule));
      }
    }
  }
}

/// How a definition in one of Kubernetes' own groups is approved.
enum class Approval : std::uint8_t { kMissing, kInvalid, kGiven };

constexpr const char* kApproval = "api-approved.kubernetes.io";

bool IsProtected(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

/// Whether it has a scheme and a host.
bool IsUrl(std::string_view text) {
  const std::size_t end = text.find("://");
  const std::size_t host = end == std::string_view::npos ? text.size() : end + 3;
  return end != 0 && host < text.size() &&
         std::string_view("/?#").find(text[host]) == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > ' '; });
}

Approval ApprovalOf(const JsonTree& definition) {
  const std::string text = TextAt(definition, {"metadata", "annotations", kApproval});
  if (text.empty()) {
    return Approval::kMissing;
  }
  return text.starts_with("unapproved") || IsUrl(text) ? Approval::kGiven : Approval::kInvalid;
}

void CheckColumns(const JsonTree& version, const std::string& path, CauseList& causes) {
  const JsonTree* const columns = version.Find("additionalPrinterColumns");
  const std::vector<JsonTree> types = {JsonTree("boolean"), JsonTree("date"), JsonTree("integer"),
                                       JsonTree("number"), JsonTree("string")};
  for (std::size_t i = 0; columns != nullptr && i < columns->elements().size() && !causes.full();
       ++i) {
    const JsonTree& column = columns->elements()[i];
    const std::string at = path + ".additionalPrinterColumns[" + std::to_string(i) + "]";
    if (column.TextAt("name").empty()) {
      causes.Add(RequiredCause(at + ".name"));
    }
    const std::string_view type = column.TextAt("type");
    if (type.empty()) {
      causes.Add(RequiredCause(at + ".type", "must be one of boolean,date,integer,number,string"));
    } else if (std::ranges::find(types, JsonTree(type)) == types.end()) {
      causes.Add(
          InvalidCause(at + ".type", type, "must be one of boolean,date,integer,number,string"));
    }
    const std::string_view json_path = column.TextAt("jsonPath");
    if (json_path.empty()) {
      causes.Add(RequiredCause(at + ".jsonPath"));
    } else if (!JsonPath::Parse(json_path)) {
      causes.Add(InvalidCause(at + ".jsonPath", json_path,
                              "is not a JSON path that this server can follow"));
    }
  }
}

void CheckScale(const JsonTree& scale, const std::string& path, CauseList& causes) {
  const auto check = [&](const char* field, std::initializer_list<const char*> roots) {
    const std::string_view text = scale.TextAt(field);
    const auto parsed = JsonPath::Parse(text);
    const bool below = std::ranges::any_of(
        roots, [&](const char* root) { return text.starts_with(root) && text != root; });
    if (!parsed || !parsed->Members() || !below) {
      std::string wanted;
      for (const std::string_view root : roots) {  // without the dot at its end
        wanted += (wanted.empty() ? "" : " or ") + std::string(root.substr(0, root.size() - 1));
      }
      causes.Add(InvalidCause(path + "." + field, text, "should be a json path under " + wanted));
    }
  };
  for (const char* const field : {"specReplicasPath", "statusReplicasPath"}) {
    if (scale.TextAt(field).empty()) {
      causes.Add(RequiredCause(path + "." + field));
    }
  }
  if (!scale.TextAt("specReplicasPath").empty()) {
    check("specReplicasPath", {".spec."});
  }
  if (!scale.TextAt("statusReplicasPath").empty()) {
    check("statusReplicasPath", {".status."});
  }
  if (!scale.TextAt("labelSelectorPath").empty()) {
    check("labelSelectorPath", {".spec.", ".status."});
  }
}

void CheckVersion(const JsonTree& version, const std::string& path, DefinitionBudget& budget,
                  CauseList& causes) {
  const std::string_view name = version.TextAt("name");
  if (!IsLabel(name)) {
    causes.Add(InvalidCause(path + ".name", name, kLabelRule));
  }
  const JsonTree* const schema = version.At({"schema", "openAPIV3Schema"});
  if (schema == nullptr) {
    causes.Add(RequiredCause(path + ".schema.openAPIV3Schema"));
  } else {
    CheckStructural(*schema, path + ".schema.openAPIV3Schema", budget, causes);
    CheckSelectableFields(version, path, causes);
  }
  CheckDeprecation(version, path, causes);
  CheckColumns(version, path, causes);
  if (const JsonTree* const scale = version.At({"subresources", "scale"})) {
    CheckScale(*scale, path + ".subresources.scale", causes);
  }
}

/// The limit for what is repeated in discovery for each version, and compared for each version: the
/// names and the conversion.
constexpr std::size_t kMaxRepeatedBytes = 8 << 20;

void CheckRepeated(const JsonTree& definition, std::size_t versions, CauseList& causes) {
  std::size_t bytes = 0;
  for (const char* const field : {"names", "conversion"}) {
    const JsonTree* const found = definition.At({"spec", field});
    bytes += found == nullptr ? 0 : found->ToJson().size();
  }
  // A single version repeats nothing.
  if (versions > 1 && versions > kMaxRepeatedBytes / std::max<std::size_t>(bytes, 1)) {
    causes.Add(ForbiddenCause("spec.versions", "there are too many for names and a conversion of " +
                                                   std::to_string(bytes) +
                                                   " bytes, which each of them has"));
  }
}

void CheckVersions(const JsonTree& definition, Budget& work, CauseList& causes) {
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions == nullptr || versions->elements().size() == 0) {
    causes.Add(RequiredCause("spec.versions", "must have at least one version"));
    return;
  }
  CheckRepeated(definition, versions->elements().size(), causes);
  std::set<std::string_view> names;
  std::size_t stored = 0;
  DefinitionBudget budget(work);
  for (std::size_t i = 0; i < versions->elements().size() && !causes.full(); ++i) {
    const JsonTree& version = versions->elements()[i];
    CheckVersion(version, "spec.versions[" + std::to_string(i) + "]", budget, causes);
    names.insert(version.TextAt("name"));
    stored += Flag(version, "storage") ? 1 : 0;
  }
  if (!causes.full()) {
    CheckSharedFields(*versions, causes);
  }
  if (!causes.full() && names.size() != versions->elements().size()) {
    causes.Add(InvalidCause("spec.versions", *versions, "must contain unique version names"));
  }
  if (!causes.full() && stored != 1) {
    causes.Add(InvalidCause("spec.versions", *versions,
                            "must have exactly one version marked as storage version"));
  }
}

bool IsEstablished(const JsonTree& definition) {
  const JsonTree* const conditions = definition.At({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [](const JsonTree& condition) {
           return condition.TextAt("type") == "Established" && condition.TextAt("status") == "True";
         });
}

}  // namespace

void CheckDefinition(const JsonTree& definition, Budget& budget, std::vector<StatusCause>& all) {
  CauseList causes(all);
  CheckNames(definition, causes);
  CheckVersions(definition, budget, causes);
  if (budget.spent()) {
    causes.AddLast(InvalidCause("spec.versions", "", kTooMuchWork));
  }
  const std::string strategy = TextAt(definition, {"spec", "conversion", "strategy"});
  if (strategy != "None" && strategy != "Webhook") {
    causes.Add(NotSupportedCause("spec.conversion.strategy", strategy,
                                 {JsonTree("None"), JsonTree("Webhook")}));
  }
  const JsonTree* const webhook = definition.At({"spec", "conversion", "webhook"});
  const bool has_webhook = webhook != nullptr && webhook->IsObject();
  if (strategy == "None" && has_webhook) {
    causes.Add(ForbiddenCause("spec.conversion.webhook",
                              "should not be set when strategy is not set to Webhook"));
  }
  const JsonTree* const versions =
      has_webhook ? webhook->Find("conversionReviewVersions") : nullptr;
  if (strategy == "Webhook" && (versions == nullptr || versions->elements().size() == 0)) {
    causes.Add(RequiredCause("spec.conversion.webhook.conversionReviewVersions"));
  }
  const JsonTree* const preserve = definition.At({"spec", "preserveUnknownFields"});
  if (preserve != nullptr && preserve->AsBool().value_or(false)) {
    causes.Add(InvalidCause("spec.preserveUnknownFields", *preserve,
                            "cannot set to true, set x-kubernetes-preserve-unknown-fields "
                            "to true in spec.versions[*].schema instead"));
  }
}

void CheckDefinitionChange(const JsonTree& before, const JsonTree& definition,
                           std::vector<StatusCause>& all) {
  CauseList causes(all);
  const auto fixed = [&](const char* field, std::initializer_list<std::string_view> path) {
    if (const std::string now = TextAt(definition, path); now != TextAt(before, path)) {
      causes.Add(InvalidCause(field, now, "field is immutable"));
    }
  };
  if (IsEstablished(before)) {
    fixed("spec.scope", {"spec", "scope"});
    fixed("spec.names.kind", {"spec", "names", "kind"});
  }
  fixed("spec.group", {"spec", "group"});
  fixed("spec.names.plural", {"spec", "names", "plural"});
  const JsonTree* const stored = before.At({"status", "storedVersions"});
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (stored == nullptr || versions == nullptr) {
    return;
  }
  std::set<std::string_view> names;
  for (const JsonTree& version : versions->elements()) {
    names.insert(version.TextAt("name"));
  }
  for (std::size_t i = 0; i < stored->elements().size() && !causes.full(); ++i) {
    const std::string* const name = stored->elements()[i].AsString();
    if (name != nullptr && !names.contains(*name)) {
      causes.Add(InvalidCause("status.storedVersions[" + std::to_string(i) + "]", *name,
                              "missing from spec.versions; " + *name +
                                  " was previously a storage version, and must remain in "
                                  "spec.versions until a storage migration ensures no data "
                                  "remains persisted in " +
                                  *name + " and removes " + *name + " from status.storedVersions"));
    }
  }
}

void CheckApproval(const JsonTree* before, const JsonTree& definition,
                   std::vector<StatusCause>& all) {
  CauseList causes(all);
  const Approval approval = ApprovalOf(definition);
  if (approval == Approval::kGiven || !IsProtected(TextAt(definition, {"spec", "group"})) ||
      (before != nullptr && ApprovalOf(*before) == approval)) {
    return;
  }
  const std::string path = std::string("metadata.annotations[") + kApproval + "]";
  const std::string what =
      std::string("protected groups must have approval annotation \"") + kApproval + "\"";
  if (approval == Approval::kMissing) {
    causes.Add(RequiredCause(path, what));
  } else {
    causes.Add(InvalidCause(path, TextAt(definition, {"metadata", "annotations", kApproval}),
                            what + " with either a URL or a reason starting with \"unapproved\""));
  }
}

std::vector<std::string> DefinitionWarnings(const JsonTree& definition) {
  std::vector<std::string> warnings;
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions != nullptr && HasRules(*versions)) {
    warnings.emplace_back("x-kubernetes-validations are kept but not evaluated by this server");
  }
  return warnings;
}

}  // namespace kubexx::apiserver::schema
