#include "kubexx/apiserver/endpoints/upkeep/namespace_reaper.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/store/delete_all.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The server's own finalizer in spec.finalizers.
constexpr std::string_view kFinalizer = "kubernetes";

/// Returns the time that a pod has to end. It is 0 for an object that is not a pod, and for a pod
/// that has ended.
std::int64_t GraceOf(const JsonTree& object) {
  const std::string phase = StringAt(object, {"status", "phase"});
  const JsonTree* const grace = object.At({"spec", "terminationGracePeriodSeconds"});
  return grace == nullptr || phase == "Succeeded" || phase == "Failed" ? 0
                                                                       : grace->AsInt().value_or(0);
}

/// Returns how long ago the deletion of a namespace began.
std::chrono::system_clock::duration Age(const JsonTree& namespace_, base::Clock& clock) {
  const auto since = apimachinery::Time::Parse(MetaString(namespace_, "deletionTimestamp"));
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
        // It must not keep other namespaces from being deleted, or the server from starting.
        if (!object) {
          logging::Error("Cannot read a namespace", {{"key", kv.key}, {"error", object.error()}});
        } else if (IsDeleting(*object)) {
          found.insert(MetaString(*object, "name"));
        }
        return {};
      },
      stop));
  NotePending(found);
  return {};
}

void NamespaceReaper::NotePending(const std::set<std::string>& names) {
  base::MutexLock lock(mu_);
  for (const std::string& name : names) {
    pending_[name] = ++noted_;
  }
}

void NamespaceReaper::Add(const std::string& name, const std::stop_token& stop) {
  ReapBudget budget = ReapBudget::OfRequest();
  Reap(name, budget, stop);
}

void NamespaceReaper::Reap(const std::string& name, ReapBudget& budget,
                           const std::stop_token& stop) {
  std::uint64_t noted = 0;
  {
    base::MutexLock lock(mu_);
    noted = pending_[name] = ++noted_;
    if (!active_.insert(name).second) {
      return;
    }
  }
  const Result<bool> done = Proceed(name, budget, stop);
  if (!done && !stop.stop_requested()) {
    logging::Error("Cannot complete the deletion of a namespace",
                   {{"namespace", name}, {"error", done.error()}});
  }
  base::MutexLock lock(mu_);
  active_.erase(name);
  // If the namespace was recorded again meanwhile, that may be because of something that came after
  // this look.
  if (const auto found = pending_.find(name);
      done && *done && found != pending_.end() && found->second == noted) {
    pending_.erase(found);
  }
}

void NamespaceReaper::Notice() {
  const std::shared_ptr<Cacher> cacher = types_.CacherOf(types_.Find("", "v1", "namespaces"));
  if (!cacher->cache().Has(0)) {
    return;  // The server has not read any namespace yet.
  }
  std::vector<CachedObjectRef> items = cacher->cache().List({}).items;
  std::ranges::sort(items);
  std::vector<CachedObjectRef> others;
  {
    base::MutexLock lock(mu_);
    std::ranges::set_difference(items, seen_, std::back_inserter(others));
  }
  std::set<std::string> going;
  for (const CachedObjectRef& one : others) {
    const auto object = JsonTree::Parse(one->Json());
    if (object && IsDeleting(*object)) {
      going.insert(MetaString(*object, "name"));
    }
  }
  NotePending(going);
  base::MutexLock lock(mu_);
  seen_ = std::move(items);
}

bool NamespaceReaper::Tick(const std::stop_token& stop) {
  Notice();
  std::map<std::string, std::uint64_t> pending;
  {
    base::MutexLock lock(mu_);
    pending = pending_;
  }
  bool more = false;
  for (const auto& [name, noted] : pending) {
    if (stop.stop_requested()) {
      return false;
    }
    ReapBudget budget = ReapBudget::OfTurn();
    Reap(name, budget, stop);
    more = more || budget.again();
  }
  return more;
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
             ? std::optional(Ending{.namespace_ = std::move(*object), .revision = revision})
             : std::nullopt;
}

Result<bool> NamespaceReaper::Settle(Ending& ending, const ReapBudget& budget,
                                     const std::stop_token& stop) {
  const std::string name = MetaString(ending.namespace_, "name");
  const CreationGate::Place place = {.namespace_ = name};
  if (!budget.patient()) {
    return objects_.gate().IsQuiet(place);
  }
  KX_RETURN_IF_ERROR(objects_.gate().AwaitEarlier(place, objects_.clock(), stop));
  KX_ASSIGN_OR_RETURN(std::optional<Ending> now, Look(name, stop));
  if (!now || MetaString(now->namespace_, "uid") != MetaString(ending.namespace_, "uid")) {
    return false;
  }
  ending = std::move(*now);  // what they have created is older than that
  return true;
}

Result<bool> NamespaceReaper::Proceed(const std::string& name, ReapBudget& budget,
                                      const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  KX_ASSIGN_OR_RETURN(std::optional<Ending> ending, Look(name, stop));
  if (!ending) {
    return true;
  }
  KX_ASSIGN_OR_RETURN(const bool settled, Settle(*ending, budget, stop));
  if (!settled) {
    return false;
  }
  const JsonTree* const object = &ending->namespace_;
  KX_ASSIGN_OR_RETURN(const NamespaceContent content, EmptyAll(*ending, budget, stop));
  if (budget.spent()) {
    return false;
  }
  const auto tell = [&](const JsonTree& current) -> Result<JsonTree> {
    JsonTree changed = current;
    SetDeletionConditions(content, objects_.clock(), changed);
    return changed;
  };
  KX_ASSIGN_OR_RETURN(const bool there, Write(*object, tell, stop));
  if (!there || !content.empty()) {
    return !there;
  }
  // The server's own finalizer waited for that. The finalizers of others still keep the namespace.
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
  // A namespace that had no finalizer, for example from an older server, is not deleted by the
  // removal of one.
  const auto deleted =
      objects_.Delete(*type, {.name = name}, {.uid = MetaString(*object, "uid")}, false, stop);
  const bool other = !deleted && (deleted.error().reason == Reason::kNotFound ||
                                  deleted.error().reason == Reason::kConflict);
  return deleted || other ? Result<bool>(true) : Fail(deleted.error());
}

Result<bool> NamespaceReaper::Write(const JsonTree& namespace_, ObjectStore::Change change,
                                    const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  const auto guarded = [&](const JsonTree& current) -> Result<JsonTree> {
    if (MetaString(current, "uid") != MetaString(namespace_, "uid")) {
      return Fail(Reason::kNotFound, "it is another namespace of that name");
    }
    return change(current);
  };
  const auto written = objects_.Update(*type, {.name = MetaString(namespace_, "name")},
                                       WritePart::kAll, guarded, false, stop);
  if (!written && written.error().reason != Reason::kNotFound) {
    return Fail(written.error());
  }
  return written.has_value();
}

Result<NamespaceContent> NamespaceReaper::EmptyAll(const Ending& ending, ReapBudget& budget,
                                                   const std::stop_token& stop) {
  NamespaceContent content;
  const ResourceTypeRef pods = types_.Find("", "v1", "pods");
  KX_RETURN_IF_ERROR(Empty(*pods, ending, content, budget, stop));
  if (!content.remaining.empty()) {
    return content;  // the pods may need the other objects until they have ended
  }
  std::set<std::string> done{pods->prefix};  // a custom resource has a type for each version
  for (const ResourceTypeRef& one : types_.All()) {
    if (budget.spent()) {
      return content;
    }
    if (one->namespaced && !one->is_review && !one->stored_as && done.insert(one->prefix).second) {
      KX_RETURN_IF_ERROR(Empty(*one, ending, content, budget, stop));
    }
  }
  return content;
}

Result<void> NamespaceReaper::Empty(const ResourceType& type, const Ending& ending,
                                    NamespaceContent& content, ReapBudget& budget,
                                    const std::stop_token& stop) {
  const std::string name = MetaString(ending.namespace_, "name");
  bool held_back = false;
  std::int64_t grace = 0;
  const auto left = [&](const JsonTree& object) {
    grace = std::max(grace, GraceOf(object));
    for (const std::string& finalizer : FinalizersOf(object)) {
      held_back = true;
      content.HeldBackBy(finalizer);
    }
  };
  // The propagation is that of kube-controller-manager, so that nothing waits for a garbage
  // collector.
  KX_ASSIGN_OR_RETURN(Leftovers leftovers, DeleteAll(objects_,
                                                     {.type = type,
                                                      .prefix = type.prefix + name + "/",
                                                      .until = ending.revision,
                                                      .propagation = "Background"},
                                                     left, budget, stop));
  if (leftovers.count == 0) {
    return {};
  }
  held_back = held_back || leftovers.contended;
  std::string failure = std::move(leftovers.failure);
  content.remaining[type.plural + "." + type.group] = leftovers.count;
  const bool patient = Age(ending.namespace_, objects_.clock()) < std::chrono::seconds(grace);
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
