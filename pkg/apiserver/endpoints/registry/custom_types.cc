#include "kubexx/apiserver/endpoints/registry/custom_types.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/version_priority.h"
#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

bool BoolAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found != nullptr && found->AsBool().value_or(false);
}

std::vector<std::string> TextsAt(const JsonTree& object,
                                 std::initializer_list<std::string_view> path) {
  std::vector<std::string> strings;
  if (const JsonTree* const found = object.At(path)) {
    for (const JsonTree& element : found->elements()) {
      if (element.AsString() != nullptr) {
        strings.push_back(*element.AsString());
      }
    }
  }
  return strings;
}

void Default(JsonTree& object, std::string_view member, std::string value) {
  if (StringAt(object, {member}).empty()) {
    object[member] = std::move(value);
  }
}

std::string StorageVersionOf(const JsonTree& definition) {
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions != nullptr) {
    for (const JsonTree& version : versions->elements()) {
      if (BoolAt(version, {"storage"})) {
        return std::string(version.TextAt("name"));
      }
    }
  }
  return {};
}

/// The properties that all versions of a definition have in common. There may be thousands of
/// versions.
struct Common {
  std::string storage_version{};
  std::string best{};  ///< the one to use rather than a deprecated one; "" when there is none
  std::shared_ptr<const JsonTree> conversion{};
  std::shared_ptr<const schema::VersionSchemas> schemas{};
};

Common CommonOf(const JsonTree& definition) {
  Common common;
  common.storage_version = StorageVersionOf(definition);
  common.schemas = schema::ReadSchemas(definition);
  for (const JsonTree& version : definition.At({"spec", "versions"})->elements()) {
    const std::string_view name = version.TextAt("name");
    if (BoolAt(version, {"served"}) && !BoolAt(version, {"deprecated"}) &&
        (common.best.empty() || IsPreferredVersion(name, common.best))) {
      common.best = name;
    }
  }
  const JsonTree* const conversion = definition.At({"spec", "conversion"});
  common.conversion =
      std::make_shared<const JsonTree>(conversion == nullptr ? JsonTree() : *conversion);
  return common;
}

/// Returns the warning for users of a version, or "" when the version is not deprecated. It is the
/// definition's own text, or names the best of the better versions.
std::string DeprecationOf(const JsonTree& definition, const JsonTree& version,
                          const Common& common) {
  if (!BoolAt(version, {"deprecated"})) {
    return {};
  }
  if (const std::string_view warning = version.TextAt("deprecationWarning"); !warning.empty()) {
    return std::string(warning);
  }
  const std::string_view own = version.TextAt("name");
  const std::string group = StringAt(definition, {"spec", "group"}) + "/";
  const std::string kind = " " + StringAt(definition, {"spec", "names", "kind"});
  const std::string warning = group + std::string(own) + kind + " is deprecated";
  return !common.best.empty() && IsPreferredVersion(common.best, own)
             ? warning + "; use " + group + common.best + kind
             : warning;
}

/// Returns the names under which a definition is served. Those that it wants may be another's.
const JsonTree& NamesServed(const JsonTree& definition) {
  const JsonTree* const accepted = definition.At({"status", "acceptedNames"});
  return accepted != nullptr && !accepted->TextAt("kind").empty()
             ? *accepted
             : *definition.At({"spec", "names"});
}

/// Sets the accepted names of a definition.
void SetAcceptedNames(const CustomNames& names, JsonTree& definition) {
  JsonTree accepted = definition["spec"]["names"];
  for (const auto& [member, name] : {std::pair("plural", &names.plural),
                                     {"singular", &names.singular},
                                     {"kind", &names.kind},
                                     {"listKind", &names.list_kind}}) {
    accepted.Erase(member);
    if (!name->empty()) {
      accepted[member] = *name;
    }
  }
  if (TextsAt(accepted, {"shortNames"}) != names.short_names) {
    accepted.Erase("shortNames");
    for (const std::string& name : names.short_names) {
      accepted["shortNames"].Append(name);
    }
  }
  definition["status"]["acceptedNames"] = std::move(accepted);
}

ResourceTypeRef TypeOfVersion(const JsonTree& definition, const JsonTree& version,
                              const Common& common,
                              const std::shared_ptr<schema::Converter>& converter) {
  ResourceType type;
  type.group = StringAt(definition, {"spec", "group"});
  type.version = StringAt(version, {"name"});
  const JsonTree& names = NamesServed(definition);
  type.kind = StringAt(names, {"kind"});
  type.list_kind = StringAt(names, {"listKind"});
  type.plural = StringAt(definition, {"spec", "names", "plural"});
  type.singular = StringAt(names, {"singular"});
  type.namespaced = StringAt(definition, {"spec", "scope"}) == "Namespaced";
  type.custom = schema::ReadVersion(version, common.storage_version, common.conversion, converter,
                                    common.schemas);
  if (!type.custom->scale.spec_replicas.empty()) {
    type.subresources.push_back(kScaleSubresource);
  }
  if (version.At({"subresources", "status"}) != nullptr) {
    type.subresources.push_back(kStatusSubresource);
  }
  type.rules = {
      .has_generation = true, .needs_version = true, .status_metadata = StatusMetadata::kKept};
  type.short_names = TextsAt(names, {"shortNames"});
  type.categories = TextsAt(names, {"categories"});
  type.prefix = CustomPrefixOf(definition);
  type.definition_uid = MetaString(definition, "uid");
  type.deprecation = DeprecationOf(definition, version, common);
  return std::make_shared<const ResourceType>(std::move(type));
}

void SetTerminating(base::Clock& clock, bool holds, std::string_view reason,
                    std::string_view message, JsonTree& definition) {
  SetCondition(ConditionTree("Terminating", holds, reason, message,
                             apimachinery::Time::From(clock.Wall()).ToString()),
               definition);
}

}  // namespace

std::string CustomPrefixOf(const JsonTree& definition) {
  return "/registry/" + StringAt(definition, {"spec", "group"}) + "/" +
         StringAt(definition, {"spec", "names", "plural"}) + "/";
}

bool OverlapsBuiltin(const JsonTree& definition) {
  static const std::vector<ResourceTypeRef> kBuiltin = BuiltinTypes();
  return std::ranges::any_of(
      kBuiltin, [prefix = CustomPrefixOf(definition)](const ResourceTypeRef& one) {
        // One prefix must not be the beginning of the other either.
        return one->prefix.starts_with(prefix) || prefix.starts_with(one->prefix);
      });
}

std::vector<ResourceTypeRef> TypesOfDefinition(
    const JsonTree& definition, const std::shared_ptr<schema::Converter>& converter) {
  std::vector<ResourceTypeRef> types;
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions == nullptr || !ConditionHolds(definition, "Established") ||
      OverlapsBuiltin(definition)) {
    return types;
  }
  const Common common = CommonOf(definition);
  for (const JsonTree& version : versions->elements()) {
    if (BoolAt(version, {"served"})) {
      types.push_back(TypeOfVersion(definition, version, common, converter));
    }
  }
  return types;
}

ResourceTypeRef AnyTypeOfDefinition(const JsonTree& definition) {
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions == nullptr || versions->elements().empty() || OverlapsBuiltin(definition)) {
    return nullptr;
  }
  return TypeOfVersion(definition, versions->elements().front(), CommonOf(definition), nullptr);
}

void SetDefinitionDefaults(JsonTree& definition) {
  JsonTree& names = definition["spec"]["names"];
  const std::string kind = StringAt(names, {"kind"});
  Default(names, "singular", base::ToLower(kind));
  Default(names, "listKind", kind.empty() ? "" : kind + "List");
  if (JsonTree* const status = definition.Find("status");
      status != nullptr && status->IsObject() && TextsAt(*status, {"storedVersions"}).empty()) {
    (*status)["storedVersions"] = JsonTree::Array({JsonTree(StorageVersionOf(definition))});
  }
  JsonTree& conversion = definition["spec"]["conversion"];
  Default(conversion, "strategy", "None");
  JsonTree* service = &conversion;
  for (const char* const member : {"webhook", "clientConfig", "service"}) {
    service = service == nullptr ? nullptr : service->Find(member);
  }
  if (service != nullptr && service->IsObject() && service->Find("port") == nullptr) {
    (*service)["port"] = 443;
  }
}

void EstablishDefinition(base::Clock& clock, const TakenNames& taken, JsonTree& definition) {
  const std::string now = apimachinery::Time::From(clock.Wall()).ToString();
  const NameDecision decision = taken.Decide(NamesOfDefinition(definition));
  JsonTree& status = definition["status"];
  if (decision.conflict) {
    SetAcceptedNames(decision.names, definition);
    SetCondition(ConditionTree("NamesAccepted", false, decision.conflict->reason,
                               decision.conflict->message, now),
                 definition);
    if (!ConditionHolds(definition, "Established")) {
      SetCondition(
          ConditionTree("Established", false, "NotAccepted", "not all names are accepted", now),
          definition);
    }
  } else {
    SetCondition(ConditionTree("NamesAccepted", true, "NoConflicts", "no conflicts found", now),
                 definition);
    SetCondition(ConditionTree("Established", true, "InitialNamesAccepted",
                               "the initial names have been accepted", now),
                 definition);
    status["acceptedNames"] = definition["spec"]["names"];
  }
  std::vector<std::string> stored = TextsAt(status, {"storedVersions"});
  if (std::string version = StorageVersionOf(definition);
      std::ranges::find(stored, version) == stored.end()) {
    stored.push_back(std::move(version));
  }
  status["storedVersions"] = JsonTree::Array();
  for (std::string& version : stored) {
    status["storedVersions"].Append(std::move(version));
  }
}

void BeginTermination(base::Clock& clock, JsonTree& definition) {
  SetMeta(definition, "deletionTimestamp", apimachinery::Time::From(clock.Wall()).ToString());
  std::vector<std::string> finalizers = FinalizersOf(definition);
  if (std::ranges::find(finalizers, kCustomResourceCleanup) == finalizers.end()) {
    finalizers.emplace_back(kCustomResourceCleanup);
    SetFinalizers(definition, finalizers);
  }
  SetTerminating(clock, true, "InstanceDeletionPending",
                 "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                 "soon",
                 definition);
}

void ContinueTermination(base::Clock& clock, JsonTree& definition) {
  SetTerminating(clock, true, "InstanceDeletionInProgress",
                 "CustomResource deletion is in progress", definition);
}

void EndTermination(base::Clock& clock, JsonTree& definition) {
  std::vector<std::string> finalizers = FinalizersOf(definition);
  std::erase(finalizers, kCustomResourceCleanup);
  SetFinalizers(definition, finalizers);
  SetTerminating(clock, false, "InstanceDeletionCompleted", "removed all instances", definition);
}

}  // namespace kubexx::apiserver
