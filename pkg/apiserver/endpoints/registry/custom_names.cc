#include "kubexx/apiserver/endpoints/registry/custom_names.h"

#include <algorithm>

#include "kubexx/apiserver/object/metadata.h"

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

}  // namespace

DefinitionNames NamesOfDefinition(const JsonTree& definition) {
  const auto conditions = ElementsAt(definition, {"status", "conditions"});
  return {.definition = MetaString(definition, "name"),
          .group = StringAt(definition, {"spec", "group"}),
          .accepted = std::ranges::any_of(conditions,
                                          [](const JsonTree& one) {
                                            return one.TextAt("type") == "NamesAccepted" &&
                                                   one.TextAt("status") == "True";
                                          }),
          .wanted = NamesAt(definition.At({"spec", "names"})),
          .taken = NamesAt(definition.At({"status", "acceptedNames"}))};
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

std::optional<NameConflict> TakenNames::ConflictOf(const DefinitionNames& definition) const {
  if (!definition.wanted) {
    return std::nullopt;
  }
  const CustomNames& names = *definition.wanted;
  for (const std::string& name : names.short_names) {
    if (HasAnother(definition, Of::kResource, name)) {
      return NameConflict{"ShortNamesConflict", name};
    }
  }
  for (const auto& [reason, of, name] : {std::tuple("PluralConflict", Of::kResource, &names.plural),
                                         {"SingularConflict", Of::kResource, &names.singular},
                                         {"KindConflict", Of::kKind, &names.kind},
                                         {"ListKindConflict", Of::kKind, &names.list_kind}}) {
    if (HasAnother(definition, of, *name)) {
      return NameConflict{reason, *name};
    }
  }
  return std::nullopt;
}

TakenNames TakenBy(const std::vector<std::shared_ptr<const DefinitionNames>>& definitions) {
  TakenNames taken;
  for (const auto& definition : definitions) {
    taken.Add(*definition);
  }
  return taken;
}

}  // namespace kubexx::apiserver
