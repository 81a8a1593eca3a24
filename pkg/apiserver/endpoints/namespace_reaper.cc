#include "kubexx/apiserver/endpoints/namespace_reaper.h"

#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/request_info.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/logging/log.h"

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
        const auto json = JsonOfStored(*type, *kv.value, kv.mod_revision);
        const auto object = json ? JsonTree::Parse(*json) : Fail(json.error());
        if (!object) {  // It stops no other, nor the server's start.
          logging::Error("Cannot read a namespace", {{"key", kv.key}, {"error", object.error()}});
        } else if (IsDeleting(*object)) {
          found.insert(MetaString(*object, "name"));
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

Result<bool> NamespaceReaper::Reap(const std::string& name, const std::stop_token& stop) {
  {
    base::MutexLock lock(mu_);
    if (!active_.insert(name).second) {
      return false;
    }
  }
  const Result<bool> gone = Proceed(name, stop);
  base::MutexLock lock(mu_);
  active_.erase(name);
  return gone;
}

void NamespaceReaper::Tick(const std::stop_token& stop) {
  std::set<std::string> names;
  {
    base::MutexLock lock(mu_);
    names.swap(pending_);
  }
  for (const std::string& name : names) {
    Add(name, stop);
  }
}

Result<bool> NamespaceReaper::Proceed(const std::string& name, const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  const auto object = objects_.Get(*type, {.name = name}, stop);
  if (!object) {
    return object.error().reason == Reason::kNotFound ? Result<bool>(true) : Fail(object.error());
  }
  if (!IsDeleting(*object)) {
    return true;
  }
  KX_RETURN_IF_ERROR(objects_.gate().AwaitEarlier(objects_.clock(), stop));
  bool empty = true;
  for (const ResourceTypeRef& one : types_.All()) {
    if (one->namespaced && !one->is_review) {
      KX_ASSIGN_OR_RETURN(const bool gone, Empty(*one, name, stop));
      empty = empty && gone;
    }
  }
  if (!empty || HasFinalizers(*object)) {
    return false;
  }
  KX_ASSIGN_OR_RETURN(const std::int64_t revision,
                      RevisionParam(MetaString(*object, "resourceVersion")));
  // Not when it has been changed since: there may be a finalizer.
  const auto deleted = objects_.storage().Delete(type->StorageKey({.name = name}), revision, stop);
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
    // As kube-controller-manager's, so that nothing waits for a garbage collector.
    const auto outcome =
        objects_.Delete(type, type.KeyOf(key), {.propagation = "Background"}, false, stop);
    if (outcome) {
      empty = empty && outcome->gone;
    } else if (stop.stop_requested()) {
      return Fail(outcome.error());
    } else if (outcome.error().reason != Reason::kNotFound) {
      logging::Error("Cannot delete an object whose namespace is being deleted",
                     {{"key", key}, {"error", outcome.error()}});
      empty = false;
    }
  }
  return empty;
}

}  // namespace kubexx::apiserver
