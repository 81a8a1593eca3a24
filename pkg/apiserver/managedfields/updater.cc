#include "kubexx/apiserver/managedfields/updater.h"

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Result;
using codec::JsonTree;

FieldSet SetOf(std::initializer_list<std::initializer_list<const char*>> paths) {
  FieldSet set;
  for (const auto& steps : paths) {
    Path path;
    for (const char* const step : steps) {
      path.push_back(PathElement::Field(step));
    }
    set.Insert(path);
  }
  return set;
}

/// The fields without an owner: those that the server decides, and the object's identity.
const FieldSet& Unowned() {
  static const FieldSet kSet = SetOf({{"apiVersion"},
                                      {"kind"},
                                      {"metadata"},
                                      {"metadata", "name"},
                                      {"metadata", "namespace"},
                                      {"metadata", "creationTimestamp"},
                                      {"metadata", "selfLink"},
                                      {"metadata", "uid"},
                                      {"metadata", "clusterName"},
                                      {"metadata", "generation"},
                                      {"metadata", "managedFields"},
                                      {"metadata", "resourceVersion"}});
  return kSet;
}

Comparison Changes(const Writer& writer, const JsonTree& before, const JsonTree& after) {
  Comparison changes = Compare(writer.type, before, after);
  for (FieldSet* const set : {&changes.removed, &changes.modified, &changes.added}) {
    set->SubtractRecursively(writer.ignored);
  }
  return changes;
}

void AsDeclaredNow(const Type& type, Managers& managers) {
  for (auto& [id, owned] : managers) {
    MakeDeclared(type, owned.fields);
  }
}

/// The limit for the text about conflicts, because the path of each may be as long as the object.
constexpr std::size_t kMaxConflictBytes = 1 << 20;

std::size_t BytesOf(const Path& path) {
  std::size_t sum = 1;
  for (const PathElement& step : path) {
    sum += step.text().size();
  }
  return sum;
}

/// Takes the changed fields from all managers except `writer`. Returns the conflicts when there are
/// any and `force` is not set.
std::vector<FieldConflict> Yield(const Comparison& changes, const ManagerId* writer, bool force,
                                 Managers& managers) {
  std::vector<FieldConflict> conflicts;
  if (managers.empty()) {
    return conflicts;
  }
  const FieldSet taken = changes.modified.Union(changes.added);
  std::size_t bytes = 0;
  for (const auto& [id, owned] : managers) {
    if (!force && (writer == nullptr || id != *writer)) {
      owned.fields.Intersection(taken).ForEach([&, &manager = id](const Path& path) {
        bytes += BytesOf(path) + manager.name.size() + manager.subresource.size();
        if (conflicts.empty() || bytes <= kMaxConflictBytes) {
          conflicts.push_back({manager, path});
        }
      });
    }
  }
  if (!conflicts.empty()) {
    return conflicts;
  }
  const FieldSet lost = taken.Union(changes.removed);
  for (auto& [id, owned] : managers) {
    if (writer == nullptr || id != *writer) {
      owned.fields.Subtract(lost);
    }
  }
  std::erase_if(managers, [](const auto& manager) { return manager.second.fields.empty(); });
  return conflicts;
}

/// Returns the merged object without the fields that `last` had and nobody owns any more.
JsonTree Prune(const Type& type, const JsonTree& merged, const FieldSet& last,
               const Managers& managers) {
  const FieldSet named_last = WithNamedFields(type, last);
  const JsonTree pruned = Without(type, merged, named_last);
  std::vector<FieldSet> owned_sets;
  for (const auto& [id, owned] : managers) {
    owned_sets.push_back(owned.fields);
  }
  const FieldSet all_owned = FieldSet::UnionOf(std::move(owned_sets));
  const FieldSet in_merged = WithNamedFields(type, FieldsOf(type, merged));
  const FieldSet kept =
      WithNamedFields(type, FieldsOf(type, pruned)).Union(WithNamedFields(type, all_owned));
  // First the fields without an owner are removed, and then those that were never the writer's are
  // restored.
  const JsonTree owned_only = Without(type, merged, in_merged.Difference(kept));
  const FieldSet left = WithNamedFields(type, FieldsOf(type, owned_only));
  return Without(type, merged, in_merged.Difference(left).Intersection(named_last));
}

/// Leaves out the members that have become null because their fields were removed. Those that the
/// config has are what it says: null or empty. Otherwise the same config would change the object
/// once more. `config` is null when it has nothing there.
void DropNewNulls(JsonTree& object, const JsonTree& before, const JsonTree* config) {
  const codec::MemberIndex of_before(&before);
  const codec::MemberIndex of_config(config);
  std::vector<JsonTree::Member> kept;
  for (JsonTree::Member& member : object.members()) {
    const JsonTree* const old = of_before.Find(member.key);
    const JsonTree* const wanted = of_config.Find(member.key);
    if (member.value.IsNull() && (old == nullptr || !old->IsNull())) {
      if (wanted == nullptr) {
        continue;
      }
      member.value = *wanted;
    } else if (old != nullptr && member.value.IsObject()) {
      DropNewNulls(member.value, *old, wanted);
    }
    kept.push_back(std::move(member));
  }
  object = JsonTree::Object(std::move(kept));
}

ManagerId IdOf(const Writer& writer, Operation operation) {
  return {.name = writer.manager.empty() ? "unknown" : writer.manager,
          .operation = operation,
          .api_version = operation == Operation::kApply ? "" : writer.api_version,
          .subresource = writer.subresource};
}

}  // namespace

Managers TrackUpdate(const Writer& writer, const JsonTree& before, const JsonTree& after,
                     Managers managers) {
  AsDeclaredNow(writer.type, managers);
  const Comparison changes = Changes(writer, before, after);
  Yield(changes, nullptr, true, managers);
  FieldSet own = changes.modified.Union(changes.added);
  own.Subtract(Unowned());
  if (!own.empty()) {
    Owned& owned = managers[IdOf(writer, Operation::kUpdate)];
    owned.api_version = writer.api_version;
    owned.time = writer.now;
    owned.fields = owned.fields.Union(own);
  }
  CapManagers(managers);
  return managers;
}

Result<Applied> ApplyConfig(const Writer& writer, const JsonTree& live, const JsonTree& config,
                            Managers managers, bool force) {
  KX_RETURN_IF_ERROR(Validate(writer.type, config));
  AsDeclaredNow(writer.type, managers);
  const ManagerId id = IdOf(writer, Operation::kApply);
  KX_ASSIGN_OR_RETURN(const JsonTree merged, MergeConfig(writer.type, live, config));
  Owned& own = managers[id];
  const FieldSet last =
      std::exchange(own.fields, FieldsOf(writer.type, config).RecursiveDifference(writer.ignored));
  own.api_version = writer.api_version;
  Applied applied;
  applied.object = merged;
  if (!last.empty()) {
    applied.object = Prune(writer.type, merged, last, managers);
    DropNewNulls(applied.object, merged, &config);
  }
  applied.conflicts = Yield(Changes(writer, live, applied.object), &id, force, managers);
  if (!applied.conflicts.empty()) {
    return applied;
  }
  if (const auto found = managers.find(id); found != managers.end()) {
    found->second.fields.Subtract(Unowned());
    if (live != applied.object) {
      found->second.time = writer.now;
    }
    if (found->second.fields.empty()) {
      managers.erase(found);
    }
  }
  applied.managers = std::move(managers);
  return applied;
}

}  // namespace kubexx::apiserver::managedfields
