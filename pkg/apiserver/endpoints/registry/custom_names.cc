#include "kubexx/apiserver/endpoints/registry/custom_names.h"

#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::optional<CustomNames> NamesAt(const JsonTree* names) {
  if (names == nullptr) {
    return std::nullopt;
  }
  return CustomNames{.plural = std::string(names->TextAt("plural")),
                     .singular = std::string(names->TextAt("singular")),
                     .short_names = StringsAt(*names, "shortNames"),
                     .kind = std::string(names->TextAt("kind")),
                     .list_kind = std::string(names->TextAt("listKind"))};
}

std::string InUse(const std::string& name) {
  return JsonTree(name).ToJson() + " is already in use";
}

}  // namespace

DefinitionNames NamesOfDefinition(const JsonTree& definition) {
  const JsonTree* const condition = FindCondition(definition, "NamesAccepted");
  const bool accepted = condition != nullptr && condition->TextAt("status") == "True";
  DefinitionNames names{.definition = MetaString(definition, "name"),
                        .group = StringAt(definition, {"spec", "group"}),
                        .accepted = accepted,
                        .wanted = NamesAt(definition.At({"spec", "names"})),
                        .taken = NamesAt(definition.At({"status", "acceptedNames"}))};
  if (condition != nullptr && !accepted) {
    names.conflict = {.reason = std::string(condition->TextAt("reason")),
                      .message = std::string(condition->TextAt("message"))};
  }
  return names;
}

void TakenNames::Take(const DefinitionNames& definition, Of of, const std::string& name) {
  if (!name.empty()) {
    definitions_[Key(definition.group, of, name)].insert(definition.definition);
  }
}

void TakenNames::Add(const DefinitionNames& definition) {
  if (!definition.taken) {
    return;
  }
  const CustomNames& names = *definition.taken;
  for (const std::string& name : names.short_names) {
    Take(definition, Of::kResource, name);
  }
  Take(definition, Of::kResource, names.plural);
  Take(definition, Of::kResource, names.singular);
  Take(definition, Of::kKind, names.kind);
  Take(definition, Of::kKind, names.list_kind);
}

bool TakenNames::HasAnother(const DefinitionNames& definition, Of of,
                            const std::string& name) const {
  const auto found = definitions_.find(Key(definition.group, of, name));
  return found != definitions_.end() &&
         (found->second.size() > 1 || !found->second.contains(definition.definition));
}

NameDecision TakenNames::Decide(const DefinitionNames& definition) const {
  const CustomNames wanted = definition.wanted.value_or(CustomNames());
  NameDecision decision{.names = definition.taken.value_or(CustomNames())};
  const auto decide = [&](const char* reason, Of of, std::string CustomNames::* name) {
    if (HasAnother(definition, of, wanted.*name)) {
      decision.conflict = {.reason = reason, .message = InUse(wanted.*name)};
    } else {
      decision.names.*name = wanted.*name;
    }
  };
  decide("PluralConflict", Of::kResource, &CustomNames::plural);
  decide("SingularConflict", Of::kResource, &CustomNames::singular);
  std::vector<std::string> in_use;
  for (const std::string& name : wanted.short_names) {
    if (HasAnother(definition, Of::kResource, name)) {
      in_use.push_back(InUse(name));
    }
  }
  if (in_use.empty()) {
    decision.names.short_names = wanted.short_names;
  } else {
    const std::string all = base::Join(in_use, ", ");
    decision.conflict = {.reason = "ShortNamesConflict",
                         .message = in_use.size() == 1 ? all : "[" + all + "]"};
  }
  decide("KindConflict", Of::kKind, &CustomNames::kind);
  decide("ListKindConflict", Of::kKind, &CustomNames::list_kind);
  return decision;
}

TakenNames TakenBy(const std::vector<std::shared_ptr<const DefinitionNames>>& definitions) {
  TakenNames taken;
  for (const auto& definition : definitions) {
    taken.Add(*definition);
  }
  return taken;
}

}  // namespace kubexx::apiserver
