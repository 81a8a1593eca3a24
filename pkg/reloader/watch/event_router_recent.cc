// Handles changes of sources that came before their workload was known.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/watch/event_router.h"

namespace kubexx::reloader {

std::shared_ptr<const PatternList> EventRouter::ListFor(const std::string& text,
                                                        MatchBudget& budget) const {
  if (auto list = parts_.patterns.GetIfHere(text)) {
    return list;
  }
  return IsQuicklyCompiled(text) && budget.TakeCompiling(text) ? parts_.patterns.Get(text)
                                                               : nullptr;
}

bool EventRouter::MayUse(const Workload& workload, const std::vector<SourceId>& referenced,
                         const SourceId& source, MatchBudget& budget) const {
  if ((IsOfDeployment(workload) && workload.containers.empty()) ||  // not known yet
      std::ranges::binary_search(referenced, source)) {
    return true;
  }
  if (IsForeign(source)) {
    return NamesForeignSource(workload, parts_.rules.keys, source);
  }
  const auto text = ReloadTextOf(workload, source.type, parts_.rules.keys);
  if (!text) {
    return false;
  }
  const auto list = ListFor(*text, budget);
  return !budget.Take(list.get(), source.key.name) || list->Matches(source.key.name);
}

void EventRouter::NoteWhatCameBefore(const Workload& workload, std::uint64_t version) {
  if (parts_.recent == nullptr) {
    return;
  }
  const std::vector<SourceId> referenced = ReferencedSources(workload);
  MatchBudget budget;
  for (const auto& [source, before, now] :
       parts_.recent->Since(workload.id.key.namespace_, version)) {
    if (MayUse(workload, referenced, source, budget)) {
      Record(workload.id, source, {before, 0}, now);
    }
  }
  // Nobody in the workload's namespace may have named the source then.
  for (const SourceId& id : ForeignSourcesOf(workload, parts_.rules.keys)) {
    const SourceId object{id.type, ObjectKeyOf(id)};
    const auto present = parts_.caches.GetSource(id);
    for (const auto& [source, before, now] : parts_.recent->Since(object.key.namespace_, version)) {
      if (source == object && present && !present->unknown) {
        Record(workload.id, id, {before, 0}, now);
      }
    }
  }
}

}  // namespace kubexx::reloader
