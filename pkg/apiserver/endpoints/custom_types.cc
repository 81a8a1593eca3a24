#include "kubexx/apiserver/endpoints/custom_types.h"

#include <string>
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

JsonTree Condition(const char* type, const char* reason, const char* message,
                   const std::string& now) {
  JsonTree condition = JsonTree::Object();
  condition["type"] = type;
  condition["status"] = "True";
  condition["lastTransitionTime"] = now;
  condition["reason"] = reason;
  condition["message"] = message;
  return condition;
}

}  // namespace

bool IsCustomResourceDefinition(const ResourceType& type) {
  return type.group == "apiextensions.k8s.io" && type.plural == "customresourcedefinitions";
}

std::vector<ResourceTypeRef> TypesOfDefinition(const JsonTree& definition) {
  std::vector<ResourceTypeRef> types;
  const JsonTree* const versions = definition.At({"spec", "versions"});
  if (versions == nullptr) {
    return types;
  }
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
    type.has_scale =
        StringAt(version, {"subresources", "scale", "specReplicasPath"}) == ".spec.replicas";
    type.has_generation = true;
    type.short_names = StringsAt(definition, {"spec", "names", "shortNames"});
    type.categories = StringsAt(definition, {"spec", "names", "categories"});
    type.prefix = "/registry/" + type.group + "/" + type.plural + "/";
    types.push_back(std::make_shared<const ResourceType>(std::move(type)));
  }
  return types;
}

void EstablishDefinition(base::Clock& clock, JsonTree& definition) {
  JsonTree& names = definition["spec"]["names"];
  const std::string kind = StringAt(names, {"kind"});
  Default(names, "singular", base::ToLower(kind));
  Default(names, "listKind", kind + "List");
  Default(definition["spec"]["conversion"], "strategy", "None");
  const std::string now = apimachinery::Time::From(clock.Wall()).ToString();
  JsonTree status = JsonTree::Object();
  status["conditions"].Append(Condition("NamesAccepted", "NoConflicts", "no conflicts found", now));
  status["conditions"].Append(Condition("Established", "InitialNamesAccepted",
                                        "the initial names have been accepted", now));
  status["acceptedNames"] = definition["spec"]["names"];
  status["storedVersions"] = JsonTree::Array();
  if (const JsonTree* const versions = definition.At({"spec", "versions"})) {
    for (const JsonTree& version : versions->elements()) {
      if (BoolAt(version, {"storage"})) {
        status["storedVersions"].Append(StringAt(version, {"name"}));
      }
    }
  }
  definition["status"] = std::move(status);
}

Result<void> ReloadCustomTypes(TypeRegistry& types, ObjectStore& objects,
                               const std::stop_token& stop) {
  const ResourceTypeRef type =
      types.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  std::vector<ResourceTypeRef> custom;
  KX_RETURN_IF_ERROR(objects.storage().GetList(
      type->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        KX_ASSIGN_OR_RETURN(const std::string json,
                            JsonOfStored(*type, *kv.value, kv.mod_revision));
        KX_ASSIGN_OR_RETURN(const JsonTree definition, JsonTree::Parse(json));
        for (ResourceTypeRef& one : TypesOfDefinition(definition)) {
          custom.push_back(std::move(one));
        }
        return {};
      },
      stop));
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
