#include "kubexx/apiserver/endpoints/custom_types.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/metadata.h"
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

std::vector<std::string> StringsAt(const JsonTree& object,
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

/// Sets a condition; its time changes with its status only.
void SetCondition(JsonTree& status, std::string_view type, bool holds, std::string_view reason,
                  std::string_view message, const std::string& now) {
  JsonTree condition = JsonTree::Object();
  condition["type"] = type;
  condition["status"] = holds ? "True" : "False";
  condition["lastTransitionTime"] = now;
  condition["reason"] = reason;
  condition["message"] = message;
  JsonTree& conditions = status["conditions"];
  for (JsonTree& old : conditions.elements()) {
    if (old.TextAt("type") == type) {
      if (old.TextAt("status") == condition.TextAt("status")) {
        condition["lastTransitionTime"] = old.TextAt("lastTransitionTime");
      }
      old = std::move(condition);
      return;
    }
  }
  conditions.Append(std::move(condition));
}

bool HasCondition(const JsonTree& definition, std::string_view type) {
  const JsonTree* const conditions = definition.At({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [&](const JsonTree& c) {
           return c.TextAt("type") == type && c.TextAt("status") == "True";
         });
}

/// The names under which requests find a resource, or those of its objects.
std::vector<std::string> NamesIn(const JsonTree& names, bool kinds) {
  if (kinds) {
    return {std::string(names.TextAt("kind")), std::string(names.TextAt("listKind"))};
  }
  std::vector<std::string> all = StringsAt(names, {"shortNames"});
  all.emplace_back(names.TextAt("plural"));
  all.emplace_back(names.TextAt("singular"));
  return all;
}

struct NameConflict {
  const char* reason;
  std::string name;
};

std::optional<NameConflict> ConflictOf(const JsonTree& definition,
                                       const std::vector<JsonTree>& others) {
  std::set<std::string> used;
  std::set<std::string> kinds;
  for (const JsonTree& other : others) {
    const JsonTree* const names = other.At({"status", "acceptedNames"});
    if (names == nullptr || MetaString(other, "name") == MetaString(definition, "name") ||
        StringAt(other, {"spec", "group"}) != StringAt(definition, {"spec", "group"})) {
      continue;
    }
    for (std::string& name : NamesIn(*names, false)) {
      used.insert(std::move(name));
    }
    for (std::string& kind : NamesIn(*names, true)) {
      kinds.insert(std::move(kind));
    }
  }
  const JsonTree* const names = definition.At({"spec", "names"});
  if (names == nullptr) {
    return std::nullopt;
  }
  for (const std::string& name : StringsAt(*names, {"shortNames"})) {
    if (used.contains(name)) {
      return NameConflict{"ShortNamesConflict", name};
    }
  }
  for (const auto& [field, reason, taken] : {std::tuple("plural", "PluralConflict", &used),
                                             {"singular", "SingularConflict", &used},
                                             {"kind", "KindConflict", &kinds},
                                             {"listKind", "ListKindConflict", &kinds}}) {
    if (taken->contains(std::string(names->TextAt(field)))) {
      return NameConflict{reason, std::string(names->TextAt(field))};
    }
  }
  return std::nullopt;
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

}  // namespace

bool IsCustomResourceDefinition(const ResourceType& type) {
  return type.group == "apiextensions.k8s.io" && type.plural == "customresourcedefinitions";
}

std::vector<ResourceTypeRef> TypesOfDefinition(const JsonTree& definition) {
  std::vector<ResourceTypeRef> types;
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions == nullptr || !HasCondition(definition, "Established")) {
    return types;
  }
  const std::string storage_version = StorageVersionOf(definition);
  for (const JsonTree& version : versions->elements()) {
    if (!BoolAt(version, {"served"})) {
      continue;
    }
    ResourceType type;
    type.group = StringAt(definition, {"spec", "group"});
    type.version = StringAt(version, {"name"});
    type.kind = StringAt(definition, {"spec", "names", "kind"});
    type.plural = StringAt(definition, {"spec", "names", "plural"});
    type.singular = StringAt(definition, {"spec", "names", "singular"});
    type.namespaced = StringAt(definition, {"spec", "scope"}) == "Namespaced";
    type.has_status = version.At({"subresources", "status"}) != nullptr;
    type.custom = schema::ReadVersion(version, storage_version);
    type.has_scale = !type.custom->scale.spec_replicas.empty();
    type.has_generation = true;
    type.short_names = StringsAt(definition, {"spec", "names", "shortNames"});
    type.categories = StringsAt(definition, {"spec", "names", "categories"});
    type.prefix = "/registry/" + type.group + "/" + type.plural + "/";
    types.push_back(std::make_shared<const ResourceType>(std::move(type)));
  }
  return types;
}

void SetDefinitionDefaults(JsonTree& definition) {
  JsonTree& names = definition["spec"]["names"];
  const std::string kind = StringAt(names, {"kind"});
  Default(names, "singular", base::ToLower(kind));
  Default(names, "listKind", kind.empty() ? "" : kind + "List");
  Default(definition["spec"]["conversion"], "strategy", "None");
}

void EstablishDefinition(base::Clock& clock, const std::vector<JsonTree>& others,
                         JsonTree& definition) {
  const std::string now = apimachinery::Time::From(clock.Wall()).ToString();
  const std::optional<NameConflict> conflict = ConflictOf(definition, others);
  JsonTree& status = definition["status"];
  if (conflict) {
    const std::string what = JsonTree(conflict->name).ToJson() + " is already in use";
    SetCondition(status, "NamesAccepted", false, conflict->reason, what, now);
    if (!HasCondition(definition, "Established")) {
      SetCondition(status, "Established", false, "NotAccepted", "not all names are accepted", now);
    }
  } else {
    SetCondition(status, "NamesAccepted", true, "NoConflicts", "no conflicts found", now);
    SetCondition(status, "Established", true, "InitialNamesAccepted",
                 "the initial names have been accepted", now);
    status["acceptedNames"] = definition["spec"]["names"];
  }
  std::vector<std::string> stored = StringsAt(status, {"storedVersions"});
  if (std::string version = StorageVersionOf(definition);
      std::ranges::find(stored, version) == stored.end()) {
    stored.push_back(std::move(version));
  }
  status["storedVersions"] = JsonTree::Array();
  for (std::string& version : stored) {
    status["storedVersions"].Append(std::move(version));
  }
}

Result<std::vector<JsonTree>> ReadDefinitions(storage::Storage& storage,
                                              const std::stop_token& stop) {
  static const ResourceTypeRef kType = [] {
    for (const ResourceTypeRef& type : BuiltinTypes()) {
      if (IsCustomResourceDefinition(*type)) {
        return type;
      }
    }
    return ResourceTypeRef();
  }();
  std::vector<JsonTree> definitions;
  KX_RETURN_IF_ERROR(storage.GetList(
      kType->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        KX_ASSIGN_OR_RETURN(const std::string json,
                            JsonOfStored(*kType, *kv.value, kv.mod_revision));
        KX_ASSIGN_OR_RETURN(JsonTree definition, JsonTree::Parse(json));
        definitions.push_back(std::move(definition));
        return {};
      },
      stop));
  return definitions;
}

Result<void> ReloadCustomTypes(TypeRegistry& types, ObjectStore& objects,
                               const std::stop_token& stop) {
  const ResourceTypeRef type =
      types.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  KX_ASSIGN_OR_RETURN(const std::vector<JsonTree> definitions,
                      ReadDefinitions(objects.storage(), stop));
  std::vector<ResourceTypeRef> custom;
  for (JsonTree definition : definitions) {
    if (!HasCondition(definition, "NamesAccepted") && !ConflictOf(definition, definitions)) {
      // Any update of a definition decides anew about its status.
      const auto updated = objects.Update(
          *type, KeyOf(definition), WritePart::kObject,
          [](const JsonTree& current) -> Result<JsonTree> { return current; }, false, stop);
      if (!updated) {
        continue;
      }
      definition = *updated;
    }
    for (ResourceTypeRef& one : TypesOfDefinition(definition)) {
      custom.push_back(std::move(one));
    }
  }
  types.SetCustom(std::move(custom));
  return {};
}

Result<void> DeleteCustomObjects(ObjectStore& objects, const JsonTree& definition,
                                 const std::stop_token& stop) {
  const std::vector<ResourceTypeRef> types = TypesOfDefinition(definition);
  if (types.empty()) {
    return {};
  }
  std::vector<std::string> keys;
  KX_RETURN_IF_ERROR(objects.storage().GetList(
      types.front()->prefix, {},
      [&keys](storage::KeyValue&& kv) -> Result<void> {
        keys.push_back(std::move(kv.key));
        return {};
      },
      stop));
  for (const std::string& key : keys) {
    const auto deleted = objects.Delete(*types.front(), types.front()->KeyOf(key), {}, false, stop);
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return Fail(deleted.error());
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
