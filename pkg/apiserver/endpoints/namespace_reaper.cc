#include "kubexx/apiserver/endpoints/namespace_reaper.h"

#include <utility>
#include <vector>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

}  // namespace

Result<void> NamespaceReaper::Load(const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  std::set<std::string> found;
  KX_RETURN_IF_ERROR(objects_.storage().GetList(
      type->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        KX_ASSIGN_OR_RETURN(const std::string json,
                            JsonOfStored(*type, *kv.value, kv.mod_revision));
        KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
        if (IsDeleting(object)) {
          found.insert(MetaString(object, "name"));
        }
        return {};
      },
      stop));
  base::MutexLock lock(mu_);
  pending_.merge(found);
  return {};
}

void NamespaceReaper::Add(const std::string& name, const std::stop_token& stop) {
  const Result<bool> gone = Reap(name, stop);
  if (!gone || !*gone) {
    base::MutexLock lock(mu_);
    pending_.insert(name);
  }
}

void NamespaceReaper::Tick() {
  std::set<std::string> names;
  {
    base::MutexLock lock(mu_);
    names.swap(pending_);
  }
  for (const std::string& name : names) {
    Add(name, {});
  }
}

Result<bool> NamespaceReaper::Reap(const std::string& name, const std::stop_token& stop) {
  bool empty = true;
  for (const ResourceTypeRef& type : types_.All()) {
    if (type->namespaced && !type->is_review) {
      KX_ASSIGN_OR_RETURN(const bool gone, Empty(*type, name, stop));
      empty = empty && gone;
    }
  }
  if (!empty) {
    return false;
  }
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  const auto object = objects_.Get(*type, {.name = name}, stop);
  if (!object) {
    return object.error().reason == Reason::kNotFound;
  }
  if (HasFinalizers(*object) || !IsDeleting(*object)) {
    return !IsDeleting(*object);
  }
  const auto deleted = objects_.storage().Delete(type->StorageKey({.name = name}), 0, stop);
  return deleted.has_value() || deleted.error().reason == Reason::kNotFound;
}

Result<bool> NamespaceReaper::Empty(const ResourceType& type, const std::string& name,
                                    const std::stop_token& stop) {
  std::vector<std::string> keys;
  KX_RETURN_IF_ERROR(objects_.storage().GetList(
      type.prefix + name + "/", {},
      [&keys](storage::KeyValue&& kv) -> Result<void> {
        keys.push_back(std::move(kv.key));
        return {};
      },
      stop));
  bool empty = true;
  for (const std::string& key : keys) {
    const auto outcome = objects_.Delete(type, type.KeyOf(key), {}, false, stop);
    if (!outcome && outcome.error().reason != Reason::kNotFound) {
      return Fail(outcome.error());
    }
    empty = empty && (!outcome || outcome->gone);
  }
  return empty;
}

}  // namespace kubexx::apiserver
