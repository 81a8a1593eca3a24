#include "kubexx/apiserver/endpoints/upkeep/default_role_upkeep.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/authz/default_roles.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/apiserver/rbac/coverage.h"
#include "kubexx/apiserver/rbac/rule.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

/// Whether the administrator wants the object to stay as it is.
bool IsProtected(const JsonTree& object) {
  const JsonTree* const update = object.At({"metadata", "annotations", kAutoUpdate});
  return update != nullptr && *update == "false";
}

std::span<const JsonTree> DefaultsAt(const JsonTree& object,
                                     std::initializer_list<std::string_view> path) {
  const JsonTree* const list = object.At(path);
  return list == nullptr ? std::span<const JsonTree>() : list->elements();
}

void AddMissingMetadata(const JsonTree& wanted, JsonTree& object) {
  for (const char* const map : {"labels", "annotations"}) {
    const JsonTree* const members = wanted.At({"metadata", map});
    for (std::size_t i = 0; members != nullptr && i < members->members().size(); ++i) {
      const JsonTree::Member& member = members->members()[i];
      if (object.At({"metadata", map, member.key}) == nullptr) {
        object["metadata"][map][member.key] = member.value;
      }
    }
  }
}

/// Appends to `list` what `wanted` has and it does not have.
void AddMissing(std::span<const JsonTree> wanted, JsonTree& list) {
  for (const JsonTree& one : wanted) {
    if (std::ranges::find(std::as_const(list).elements(), one) ==
        std::as_const(list).elements().end()) {
      list.Append(one);
    }
  }
}

void AddMissingRules(const JsonTree& wanted, JsonTree& role, const std::stop_token& stop) {
  const bool aggregated =
      wanted.Find("aggregationRule") != nullptr && role.Find("aggregationRule") != nullptr;
  if (!aggregated) {  // otherwise other roles have the rules
    const std::vector<rbac::Rule> rules = rbac::ReadRules(wanted);
    const rbac::Missing missing = rbac::NotCovered(rbac::ReadRules(role), rules, stop);
    // If it takes too much to say what is missing, all are added.
    for (const rbac::Rule& rule : missing.complete ? missing.rules : rules) {
      role["rules"].Append(rule.ToJson());
    }
  }
  if (const auto selectors = DefaultsAt(wanted, {"aggregationRule", "clusterRoleSelectors"});
      !selectors.empty()) {
    AddMissing(selectors, role["aggregationRule"]["clusterRoleSelectors"]);
  }
}

/// Returns `object` with what it lacks.
JsonTree Completed(const JsonTree& wanted, JsonTree object, const std::stop_token& stop) {
  AddMissingMetadata(wanted, object);
  if (wanted.Find("roleRef") == nullptr) {
    AddMissingRules(wanted, object, stop);
  } else {
    AddMissing(DefaultsAt(wanted, {"subjects"}), object["subjects"]);
  }
  return object;
}

Result<void> Make(const ResourceType& type, ObjectStore& objects, JsonTree wanted,
                  const std::stop_token& stop) {
  const auto created = objects.Create(type, "", std::move(wanted), false, stop);
  return created || created.error().reason == Reason::kAlreadyExists
             ? Result<void>()
             : Fail(created.error().WithContext("make " + type.plural));
}

Result<void> Keep(const ResourceType& type, ObjectStore& objects, const JsonTree& wanted,
                  const std::stop_token& stop) {
  const apimachinery::ObjectKey key = KeyOf(wanted);
  const auto found = objects.Get(type, key, stop);
  if (!found) {
    return found.error().reason == Reason::kNotFound ? Make(type, objects, wanted, stop)
                                                     : Fail(found.error());
  }
  const JsonTree* const role = wanted.Find("roleRef");
  if (IsProtected(*found)) {
    return {};
  }
  if (const JsonTree* const of = found->Find("roleRef");
      role != nullptr && (of == nullptr || *of != *role)) {
    const auto gone = objects.Delete(type, key, {.uid = MetaString(*found, "uid")}, false, stop);
    return gone || gone.error().reason == Reason::kNotFound ? Make(type, objects, wanted, stop)
                                                            : Fail(gone.error());
  }
  const auto updated = objects.Update(
      type, key, WritePart::kObject,
      [&](const JsonTree& current) -> Result<JsonTree> {
        return IsProtected(current) ? current : Completed(wanted, current, stop);
      },
      false, stop);
  return updated ? Result<void>() : Fail(updated.error());
}

}  // namespace

Result<void> KeepDefaultRoles(const TypeRegistry& types, ObjectStore& objects,
                              const std::stop_token& stop) {
  for (const auto& [plural, all] :
       {std::pair("clusterroles", DefaultClusterRoles()),
        std::pair("clusterrolebindings", DefaultClusterRoleBindings())}) {
    const ResourceTypeRef type = types.Find("rbac.authorization.k8s.io", "v1", plural);
    for (const JsonTree& one : all) {
      KX_ASSIGN_OR_RETURN(const JsonTree wanted, Canonical(*type, one));
      const auto kept = Keep(*type, objects, wanted, stop);
      if (kept) {
        continue;
      }
      if (stop.stop_requested() || storage::IsOutage(kept.error())) {
        return kept;
      }
      logging::Warning(
          "A default role or binding cannot be brought up to date",
          {{"resource", plural}, {"name", MetaString(wanted, "name")}, {"error", kept.error()}});
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
