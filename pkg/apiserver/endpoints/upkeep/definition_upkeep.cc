#include "kubexx/apiserver/endpoints/upkeep/definition_upkeep.h"

#include <string>

#include "kubexx/apiserver/endpoints/registry/custom_names.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/endpoints/store/delete_all.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Whether another attempt of the same request may succeed.
bool IsWorthAnotherTry(const apimachinery::Status& error) {
  return error.reason != Reason::kInvalid && error.reason != Reason::kRequestEntityTooLarge;
}

}  // namespace

Result<bool> AcceptNames(ObjectStore& objects, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const auto all, objects.ReadNames(stop));
  TakenNames taken = TakenBy(all);
  bool complete = true;
  for (const auto& names : all) {
    if (names->accepted) {
      continue;
    }
    if (const NameDecision decision = taken.Decide(*names);
        decision.conflict == names->conflict && decision.names == names->taken) {
      continue;
    }
    KX_ASSIGN_OR_RETURN(const auto naming, objects.naming().Take(objects.clock(), stop));
    const auto updated = objects.Update(
        *DefinitionType(), {.namespace_ = "", .name = names->definition}, WritePart::kAll,
        [&](const JsonTree& current) -> Result<JsonTree> {
          KX_ASSIGN_OR_RETURN(const auto present, objects.ReadNames(stop));
          JsonTree accepted = current;
          EstablishDefinition(objects.clock(), TakenBy(present), accepted);
          return accepted;
        },
        false, stop);
    if (updated) {
      taken.Add(NamesOfDefinition(*updated));
    } else if (stop.stop_requested()) {
      return Fail(updated.error());
    } else if (updated.error().reason != Reason::kNotFound) {
      logging::Error("Cannot accept the names of a CustomResourceDefinition",
                     {{"definition", names->definition}, {"error", updated.error()}});
      complete = complete && !IsWorthAnotherTry(updated.error());
    }
  }
  return complete;
}

Result<bool> DeleteCustomObjects(ObjectStore& objects, const JsonTree& definition,
                                 storage::Revision until, ReapBudget& budget,
                                 const std::stop_token& stop) {
  const ResourceTypeRef type = AnyTypeOfDefinition(definition);
  if (type == nullptr) {
    return true;
  }
  KX_ASSIGN_OR_RETURN(const Leftovers leftovers,
                      DeleteAll(
                          objects, {.type = *type, .prefix = type->prefix, .until = until},
                          [](const JsonTree&) {}, budget, stop));
  return leftovers.count == 0 && !budget.spent();
}

}  // namespace kubexx::apiserver
