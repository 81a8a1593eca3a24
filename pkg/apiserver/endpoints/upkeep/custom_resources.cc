#include "kubexx/apiserver/endpoints/upkeep/custom_resources.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/apiserver/endpoints/upkeep/definition_upkeep.h"
#include "kubexx/apiserver/endpoints/webhooks/conversion.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/http/message.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

bool IsReapable(const JsonTree& definition) {
  if (!IsDeleting(definition)) {
    return false;
  }
  const std::vector<std::string> finalizers = FinalizersOf(definition);
  return std::ranges::find(finalizers, kCustomResourceCleanup) != finalizers.end();
}

}  // namespace

Result<void> CustomResources::Sync(const std::stop_token& stop) {
  std::uint64_t covers = 0;
  {
    std::optional<http::Waiting> waiting;
    if (const CurrentRequest* const current = CurrentRequest::Get()) {
      waiting.emplace(current->request());
    }
    const Result<void> may_wait = waiting ? waiting->Check() : Result<void>();
    base::MutexLock lock(mu_);
    const std::uint64_t mine = ++asked_;
    while (taken_ && done_ < mine) {
      if (stop.stop_requested()) {
        again_ = true;
        return Fail(Reason::kCancelled, "stopped while others read the definitions");
      }
      if (!may_wait) {
        again_ = true;
        return may_wait;
      }
      objects_.clock().WaitUntil(mu_, free_, stop, base::TimePoint::max());
    }
    if (done_ >= mine) {  // by a caller that began after this one
      return {};
    }
    taken_ = true;
    again_ = false;
    covers = asked_;
  }
  Result<void> served = Serve(stop);
  base::MutexLock lock(mu_);
  taken_ = false;
  again_ = again_ || !served;
  if (served) {
    done_ = covers;
  }
  free_.notify_all();
  return served;
}

void CustomResources::NoticeOthers() {
  const std::shared_ptr<Cacher> cacher =
      types_.CacherOf(types_.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions"));
  if (!cacher->cache().Has(0)) {
    return;  // The server has not read any definition yet.
  }
  std::vector<CachedObjectRef> items = cacher->cache().List({}).items;
  base::MutexLock lock(mu_);
  if (items != seen_) {
    seen_ = std::move(items);
    again_ = true;
  }
}

void CustomResources::Tick(const std::stop_token& stop) {
  if (shared_) {
    NoticeOthers();
  }
  {
    base::MutexLock lock(mu_);
    if (!again_) {
      return;
    }
  }
  if (const auto synced = Sync(stop); !synced && !stop.stop_requested()) {
    logging::Log(
        storage::IsOutage(synced.error()) ? logging::Level::kDebug : logging::Level::kError,
        "Cannot read the CustomResourceDefinitions; the server tries again",
        {{"error", synced.error()}});
  }
}

CustomResources::Known CustomResources::Learn(JsonTree definition) {
  Known known;
  known.types = TypesOfDefinition(definition, ConverterOf(definition, webhooks_));
  known.deleting = IsDeleting(definition);
  if (IsReapable(definition)) {
    known.uid = MetaString(definition, "uid");
    known.reapable = std::make_shared<const JsonTree>(std::move(definition));
  }
  return known;
}

Result<void> CustomResources::Serve(const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const bool accepted, AcceptNames(objects_, stop));
  if (!accepted) {
    base::MutexLock lock(mu_);
    again_ = true;
  }
  KX_ASSIGN_OR_RETURN(const auto definitions, definitions_.Read(objects_.storage(), stop));
  std::vector<ResourceTypeRef> served;
  std::map<std::string, std::string, std::less<>> open;
  std::map<std::string, std::shared_ptr<const JsonTree>> ending;
  for (const auto& definition : definitions.all) {
    for (const ResourceTypeRef& one : definition->types) {
      if (!definition->deleting) {
        open.emplace(one->prefix, one->definition_uid);
      }
      served.push_back(one);
    }
    if (definition->reapable != nullptr) {
      ending.emplace(definition->uid, definition->reapable);
    }
  }
  objects_.gate().SetOpen(std::move(open));
  types_.SetCustom(std::move(served), definitions.revision);
  base::MutexLock lock(mu_);
  ending_ = std::move(ending);
  return {};
}

bool CustomResources::ReapAll(bool patient, bool& more, const std::stop_token& stop) {
  std::map<std::string, std::shared_ptr<const JsonTree>> ending;
  {
    base::MutexLock lock(mu_);
    ending = ending_;
  }
  bool any_gone = false;
  ReapBudget of_request = ReapBudget::OfRequest();  // one budget for all of them
  for (const auto& [uid, definition] : ending) {
    if (of_request.spent()) {
      break;
    }
    {
      base::MutexLock lock(mu_);
      if (!active_.insert(uid).second) {
        continue;
      }
    }
    ReapBudget of_turn = ReapBudget::OfTurn();
    ReapBudget& budget = patient ? of_turn : of_request;
    const Result<bool> gone = ReapOne(*definition, budget, stop);
    if (!gone && !stop.stop_requested()) {  // the others are deleted nevertheless
      logging::Error("Cannot delete a CustomResourceDefinition",
                     {{"definition", MetaString(*definition, "name")}, {"error", gone.error()}});
    }
    any_gone = any_gone || (gone && *gone);
    more = more || budget.again();
    base::MutexLock lock(mu_);
    active_.erase(uid);
    if (gone && *gone) {
      ending_.erase(uid);
    }
  }
  return any_gone;
}

void CustomResources::ReapFew(const std::stop_token& stop) {
  bool more = false;
  if (ReapAll(false, more, stop)) {
    if (const auto synced = Sync(stop); !synced) {  // Tick will do it
      logging::Warning(
          "Cannot read the CustomResourceDefinitions after one was deleted; the server tries again",
          {{"error", synced.error()}});
    }
  }
}

bool CustomResources::Reap(const std::stop_token& stop) {
  bool more = false;
  if (ReapAll(true, more, stop)) {
    {
      base::MutexLock lock(mu_);
      again_ = true;
    }
    Tick(stop);
  }
  return more && !stop.stop_requested();
}

Result<bool> CustomResources::ReapOne(const JsonTree& definition, ReapBudget& budget,
                                      const std::stop_token& stop) {
  const CreationGate::Place place = {.prefix = CustomPrefixOf(definition)};
  if (budget.patient()) {
    KX_RETURN_IF_ERROR(objects_.gate().AwaitEarlier(place, objects_.clock(), stop));
  } else if (!objects_.gate().IsQuiet(place)) {
    return false;
  }
  const ResourceTypeRef type =
      types_.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const std::string uid = MetaString(definition, "uid");
  // Another server of the store, or a client that removes the finalizer, may have ended the
  // deletion.
  KX_ASSIGN_OR_RETURN(const storage::Revision until, objects_.storage().CurrentRevision(stop));
  const auto present = objects_.Get(*type, KeyOf(definition), stop);
  if (!present && present.error().reason != Reason::kNotFound) {
    return Fail(present.error());
  }
  if (!present || MetaString(*present, "uid") != uid) {
    return true;
  }
  KX_ASSIGN_OR_RETURN(const bool empty,
                      DeleteCustomObjects(objects_, definition, until, budget, stop));
  const auto updated = objects_.Update(
      *type, KeyOf(definition), WritePart::kAll,
      [&](const JsonTree& current) -> Result<JsonTree> {
        if (MetaString(current, "uid") != uid) {
          return Fail(Reason::kNotFound, "it is another one");
        }
        JsonTree changed = current;
        (empty ? EndTermination : ContinueTermination)(objects_.clock(), changed);
        return changed;
      },
      false, stop);
  if (!updated && updated.error().reason != Reason::kNotFound) {
    return Fail(updated.error());
  }
  return empty;
}

}  // namespace kubexx::apiserver
