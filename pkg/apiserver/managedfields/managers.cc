#include "kubexx/apiserver/managedfields/managers.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::size_t kMaxUpdaters = 10;
constexpr const char* kOldUpdates = "ancient-changes";

Result<void> ReadEntry(const JsonTree& entry, Managers& managers) {
  ManagerId id{.name = std::string(entry.TextAt("manager")),
               .api_version = std::string(entry.TextAt("apiVersion")),
               .subresource = std::string(entry.TextAt("subresource"))};
  // The limit is that of kube-apiserver's validation. Each conflict names the manager.
  constexpr std::size_t kMaxName = 128;
  constexpr std::size_t kMaxSubresource = 256;
  const std::string_view time = entry.TextAt("time");
  if (id.name.size() > kMaxName || id.subresource.size() > kMaxSubresource ||
      (!time.empty() && !apimachinery::Time::Parse(time))) {
    // Such an entry has no manager. It may be in a stored object whose other managers count.
    return {};
  }
  const std::string_view operation = entry.TextAt("operation");
  if (operation != "Apply" && operation != "Update") {
    return Fail(Reason::kMalformed, "operation must be `Apply` or `Update`");
  }
  if (id.api_version.empty()) {
    return Fail(Reason::kMalformed, "apiVersion must not be empty");
  }
  if (entry.TextAt("fieldsType") != "FieldsV1") {
    return Fail(Reason::kMalformed, "fieldsType must be FieldsV1");
  }
  Owned owned{.api_version = id.api_version, .time = std::string(time)};
  if (operation == "Apply") {
    id.operation = Operation::kApply;
    id.api_version.clear();
  }
  if (const JsonTree* const fields = entry.Find("fieldsV1")) {
    KX_ASSIGN_OR_RETURN(owned.fields, FieldSet::FromJson(*fields));
  }
  managers.insert_or_assign(std::move(id), std::move(owned));
  return {};
}

JsonTree EntryOf(const ManagerId& id, const Owned& owned) {
  JsonTree entry = JsonTree::Object();
  entry["manager"] = id.name;
  entry["operation"] = id.operation == Operation::kApply ? "Apply" : "Update";
  entry["apiVersion"] = owned.api_version;
  if (!owned.time.empty()) {
    entry["time"] = owned.time;
  }
  entry["fieldsType"] = "FieldsV1";
  entry["fieldsV1"] = owned.fields.ToJson();
  if (!id.subresource.empty()) {
    entry["subresource"] = id.subresource;
  }
  return entry;
}

bool SameEntryButTime(const JsonTree& a, const JsonTree& b) {
  JsonTree x = a;
  JsonTree y = b;
  x.Erase("time");
  y.Erase("time");
  return x == y;
}

}  // namespace

std::string ManagerId::ToString() const {
  std::string text = JsonTree(name).ToJson();
  if (!subresource.empty()) {
    text += " with subresource " + JsonTree(subresource).ToJson();
  }
  return operation == Operation::kUpdate ? text + " using " + api_version : text;
}

Result<Managers> ReadManagers(const JsonTree* managed_fields) {
  Managers managers;
  if (managed_fields == nullptr) {
    return managers;
  }
  for (const JsonTree& entry : managed_fields->elements()) {
    KX_RETURN_IF_ERROR(ReadEntry(entry, managers));
  }
  return managers;
}

JsonTree WriteManagers(const Managers& managers) {
  std::vector<const Managers::value_type*> sorted;
  for (const auto& manager : managers) {
    sorted.push_back(&manager);
  }
  std::ranges::stable_sort(sorted, [](const auto* a, const auto* b) {
    const auto key = [](const Managers::value_type& one) {
      return std::tie(one.first.operation, one.second.time, one.first.name, one.second.api_version,
                      one.first.subresource);
    };
    return key(*a) < key(*b);
  });
  std::vector<JsonTree> entries;
  entries.reserve(sorted.size());
  for (const auto* manager : sorted) {
    entries.push_back(EntryOf(manager->first, manager->second));
  }
  return JsonTree::Array(std::move(entries));
}

void CapManagers(Managers& managers) {
  std::vector<std::pair<std::string, ManagerId>> updaters;  // ordered by time
  for (const auto& [id, owned] : managers) {
    if (id.operation == Operation::kUpdate) {
      updaters.emplace_back(owned.time, id);
    }
  }
  std::ranges::sort(updaters);
  std::size_t left = updaters.size();
  std::map<std::string, ManagerId> first_of_version;
  std::map<ManagerId, std::vector<FieldSet>> buckets;
  for (std::size_t i = 0; i < updaters.size() && left > kMaxUpdaters; ++i) {
    const ManagerId& id = updaters[i].second;
    const auto [first, is_new] = first_of_version.emplace(id.api_version, id);
    if (is_new) {
      continue;
    }
    // A single entry keeps its name. The second one of a version turns both into a bucket.
    const ManagerId bucket{.name = kOldUpdates, .api_version = id.api_version};
    if (!managers.contains(bucket)) {
      auto node = managers.extract(first->second);
      node.key() = bucket;
      managers.insert(std::move(node));
    }
    if (id == bucket) {
      continue;
    }
    const auto own = managers.find(id);
    managers.at(bucket).time = own->second.time;
    buckets[bucket].push_back(std::move(own->second.fields));
    managers.erase(own);
    --left;
  }
  for (auto& [bucket, sets] : buckets) {
    FieldSet& sum = managers.at(bucket).fields;
    sets.push_back(std::move(sum));
    sum = FieldSet::UnionOf(std::move(sets));
  }
}

bool IsReset(const JsonTree* managed_fields) {
  if (managed_fields == nullptr || !managed_fields->IsArray()) {
    return false;
  }
  const auto is_blank = [](const JsonTree& entry) {
    return entry.IsObject() && std::ranges::all_of(entry.members(), [](const auto& member) {
             return member.value.IsNull() ||
                    (member.value.AsString() != nullptr && member.value.AsString()->empty());
           });
  };
  return managed_fields->size() == 0 ||
         (managed_fields->size() == 1 && is_blank(managed_fields->elements()[0]));
}

bool DifferInTimesOnly(const JsonTree& a, const JsonTree& b) {
  const JsonTree* const one = a.At({"metadata", "managedFields"});
  const JsonTree* const other = b.At({"metadata", "managedFields"});
  if (one == nullptr || other == nullptr || one->size() == 0 || one->size() != other->size() ||
      *one == *other || !std::ranges::equal(one->elements(), other->elements(), SameEntryButTime)) {
    return false;
  }
  JsonTree same = a;
  same["metadata"]["managedFields"] = *other;
  return same == b;
}

}  // namespace kubexx::apiserver::managedfields
