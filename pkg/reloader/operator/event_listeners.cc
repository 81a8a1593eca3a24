#include "kubexx/reloader/operator/event_listeners.h"

#include <algorithm>
#include <string_view>

#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/watch/source_event.h"
#include "kubexx/reloader/watch/wait_unless.h"

namespace kubexx::reloader {

using cache::RawEvent;

void EventListeners::Subscribe() {
  for (const InformerSet& set : parts_.caches.informers()) {
    for (const auto& [kind, informer] : set.workloads) {
      auto handler = informer->AddRawHandler("reloader", [this, kind](const RawEvent& event) {
        TellGate(kind, event);
        TellPauses(kind, event);
        parts_.router.OnWorkload(kind, event, parts_.stop);
      });
      workloads_.emplace_back(std::move(handler), set.LateOf(kind));
    }
    for (const auto& [type, informer] : set.sources) {
      sources_.push_back(informer->AddRawHandler(
          "reloader", [this, type, handle = parts_.router.SourceHandler(type, parts_.stop)](
                          const RawEvent& event) {
            if (parts_.gate != nullptr && MeaningOf(type, event) == RawEvent::Type::kDelete) {
              parts_.gate->OnSourceGone({type, event.key()});
            }
            handle(event);
          }));
    }
    if (set.provider_classes) {
      sources_.push_back(set.provider_classes->AddRawHandler(
          "reloader",
          [this](const RawEvent& event) { parts_.router.OnProviderClass(event, parts_.stop); }));
    }
  }
}

bool EventListeners::AwaitWorkloads(const std::stop_token& stop) const {
  return std::ranges::all_of(
      workloads_, [&](const auto& each) { return WaitUnless(each.first, each.second, stop); });
}

void EventListeners::Unsubscribe() {
  workloads_.clear();
  sources_.clear();
}

void EventListeners::TellGate(WorkloadKind kind, const RawEvent& event) {
  if (parts_.gate == nullptr) {
    return;
  }
  const WorkloadId id{kind, event.key()};
  if (event.type == RawEvent::Type::kDelete) {
    parts_.gate->OnWorkload(id, nullptr);
  } else if (auto workload = WorkloadFrom(kind, event.object())) {
    workload->resource_version = event.resource_version();
    parts_.gate->OnWorkload(id, &*workload);
  }
}

void EventListeners::TellPauses(WorkloadKind kind, const RawEvent& event) {
  // Most Deployments are not paused, and their bytes do not contain the key.
  if (parts_.pauses != nullptr && kind == WorkloadKind::kDeployment &&
      event.type != RawEvent::Type::kDelete && IsWatched(event.key().namespace_) &&
      std::string_view(event.object().bytes).contains(parts_.keys.paused_at)) {
    parts_.pauses->Consider(event.key());
  }
}

bool EventListeners::IsWatched(const std::string& namespace_) const {
  return !parts_.ignored_namespaces.contains(namespace_) &&
         (parts_.namespaces == nullptr || parts_.namespaces->Contains(namespace_));
}

}  // namespace kubexx::reloader
