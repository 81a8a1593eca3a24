#include "kubexx/apiserver/endpoints/namespace_reaper.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The one in spec.finalizers that is the server's own.
constexpr std::string_view kFinalizer = "kubernetes";

/// How long a pod may take to end; 0 for what is no pod, or has ended.
std::int64_t GraceOf(const JsonTree& object) {
  const std::string phase = StringAt(object, {"status", "phase"});
  const JsonTree* const grace = object.At({"spec", "terminationGracePeriodSeconds"});
  return grace == nullptr || phase == "Succeeded" || phase == "Failed" ? 0
                                                                       : grace->AsInt().value_or(0);
}

/// Since when a namespace is being deleted.
std::chrono::system_clock::duration Age(const JsonTree& name_space, base::Clock& clock) {
  const auto since = apimachinery::Time::Parse(MetaString(name_space, "deletionTimestamp"));
  return since ? clock.Wall() -
                     std::chrono::system_clock::time_point(std::chrono::seconds(since->seconds))
               : std::chrono::system_clock::duration::max();
}

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

Result<std::optional<NamespaceReaper::Ending>> NamespaceReaper::Look(const std::string& name,
                                                                     const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const storage::Revision revision, objects_.storage().CurrentRevision(stop));
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  auto object = objects_.Get(*type, {.name = name}, stop);
  if (!object && object.error().reason != Reason::kNotFound) {
    return Fail(object.error());
  }
  return object && IsDeleting(*object)
             ? std::optional(Ending{.name_space = std::move(*object), .revision = revision})
             : std::nullopt;
}

Result<bool> NamespaceReaper::Proceed(const std::string& name, const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  KX_RETURN_IF_ERROR(objects_.gate().AwaitEarlier(objects_.clock(), stop));
  KX_ASSIGN_OR_RETURN(const std::optional<Ending> ending, Look(name, stop));
  if (!ending) {
    return true;
  }
  const JsonTree* const object = &ending->name_space;
  KX_ASSIGN_OR_RETURN(const NamespaceContent content, EmptyAll(*ending, stop));
  const auto tell = [&](const JsonTree& current) -> Result<JsonTree> {
    JsonTree changed = current;
    SetDeletionConditions(content, objects_.clock(), changed);
    return changed;
  };
  KX_ASSIGN_OR_RETURN(const bool there, Write(*object, tell, stop));
  if (!there || !content.empty()) {
    return !there;
  }
  // That was what the server's own finalizer waited for; those of others still hold it.
  const auto finalize = [](const JsonTree& current) -> Result<JsonTree> {
    JsonTree changed = current;
    JsonTree others = JsonTree::Array();
    if (const JsonTree* const spec = current.Find("spec")) {
      for (const std::string& finalizer : StringsAt(*spec, "finalizers")) {
        if (finalizer != kFinalizer) {
          others.Append(finalizer);
        }
      }
    }
    if (others.size() > 0) {
      changed["spec"]["finalizers"] = std::move(others);
    } else {
      changed["spec"].Erase("finalizers");
    }
    return changed;
  };
  KX_RETURN_IF_ERROR(Write(*object, finalize, stop));
  // One that had none, of an older server, say, is not gone by that.
  const auto deleted =
      objects_.Delete(*type, {.name = name}, {.uid = MetaString(*object, "uid")}, false, stop);
  const bool other = !deleted && (deleted.error().reason == Reason::kNotFound ||
                                  deleted.error().reason == Reason::kConflict);
  return deleted || other ? Result<bool>(true) : Fail(deleted.error());
}

Result<bool> NamespaceReaper::Write(const JsonTree& name_space, ObjectStore::Change change,
                                    const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  const auto guarded = [&](const JsonTree& current) -> Result<JsonTree> {
    if (MetaString(current, "uid") != MetaString(name_space, "uid")) {
      return Fail(Reason::kNotFound, "it is another namespace of that name");
    }
    return change(current);
  };
  const auto written = objects_.Update(*type, {.name = MetaString(name_space, "name")},
                                       WritePart::kAll, guarded, false, stop);
  if (!written && written.error().reason != Reason::kNotFound) {
    return Fail(written.error());
  }
  return written.has_value();
}

Result<NamespaceContent> NamespaceReaper::EmptyAll(const Ending& ending,
                                                   const std::stop_token& stop) {
  NamespaceContent content;
  const ResourceTypeRef pods = types_.Find("", "v1", "pods");
  KX_RETURN_IF_ERROR(Empty(*pods, ending, content, stop));
  if (!content.remaining.empty()) {
    return content;  // They may need the rest until they have ended.
  }
  std::set<std::string> done{pods->prefix};  // A custom resource has a type for each version.
  for (const ResourceTypeRef& one : types_.All()) {
    if (one->namespaced && !one->is_review && !one->stored_as && done.insert(one->prefix).second) {
      KX_RETURN_IF_ERROR(Empty(*one, ending, content, stop));
    }
  }
  return content;
}

Result<void> NamespaceReaper::Empty(const ResourceType& type, const Ending& ending,
                                    NamespaceContent& content, const std::stop_token& stop) {
  const std::string name = MetaString(ending.name_space, "name");
  std::vector<std::pair<std::string, storage::Revision>> found;
  std::int64_t remaining = 0;
  bool held_back = false;
  KX_RETURN_IF_ERROR(objects_.storage().GetList(
      type.prefix + name + "/", {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        if (kv.create_revision <= ending.revision) {
          found.emplace_back(std::move(kv.key), kv.mod_revision);
        } else {  // It has its turn when the namespace has been looked at again.
          ++remaining;
          held_back = true;
        }
        return {};
      },
      stop));
  std::int64_t grace = 0;
  std::string failure;
  for (const auto& [key, revision] : found) {
    // As kube-controller-manager's, so that nothing waits for a garbage collector. As it was found:
    // there may be another one of that name.
    const auto outcome = objects_.Delete(
        type, type.KeyOf(key),
        {.resource_version = std::to_string(revision), .propagation = "Background"}, false, stop);
    if (outcome && !outcome->gone) {
      ++remaining;
      grace = std::max(grace, GraceOf(outcome->object));
      for (const std::string& finalizer : FinalizersOf(outcome->object)) {
        held_back = true;
        ++content.finalizers[finalizer];
      }
    } else if (!outcome && stop.stop_requested()) {
      return Fail(outcome.error());
    } else if (!outcome && outcome.error().reason == Reason::kConflict) {
      ++remaining;
      held_back = true;
    } else if (!outcome && outcome.error().reason != Reason::kNotFound) {
      logging::Error("Cannot delete an object whose namespace is being deleted",
                     {{"key", key}, {"error", outcome.error()}});
      ++remaining;
      failure = outcome.error().message;
    }
  }
  if (remaining == 0) {
    return {};
  }
  content.remaining[type.plural + "." + type.group] = remaining;
  const bool patient = Age(ending.name_space, objects_.clock()) < std::chrono::seconds(grace);
  if (failure.empty() && !held_back && !patient) {
    failure = "unexpected items still remain in namespace: " + name + " for gvr: " + type.group +
              "/" + type.version + ", Resource=" + type.plural;
  }
  if (!failure.empty()) {
    content.failures.push_back(std::move(failure));
  }
  return {};
}

}  // namespace kubexx::apiserver
