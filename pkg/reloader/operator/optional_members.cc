#include "kubexx/reloader/operator/optional_members.h"

#include <utility>

namespace kubexx::reloader {

std::unique_ptr<Pauses> NewPausesFor(const Operator::Options& options, const Caches& caches,
                                     WorkloadWriter& writer) {
  if (!options.pause_query) {
    return nullptr;
  }
  return std::make_unique<Pauses>(
      Pauses::Parts{.keys = options.rules.keys,
                    .get = [&caches](const WorkloadId& id) { return caches.GetWorkload(id); },
                    .query = options.pause_query,
                    .writer = writer,
                    .held_shards = options.held_shards,
                    .clock = options.clock,
                    .registry = options.registry,
                    .executor = options.executor});
}

std::unique_ptr<HistoryKeeper> NewHistoryFor(const Operator::Options& options,
                                             const Caches& caches) {
  if (options.history == 0) {
    return nullptr;
  }
  return std::make_unique<HistoryKeeper>(HistoryKeeper::Options{
      .rollouts = options.history,
      .source = [&caches](const SourceId& id) { return caches.GetTraced(id); }});
}

std::unique_ptr<InPlaceReloads> NewInPlaceReloadsFor(
    const Operator::Options& options, std::function<void(const WorkloadId&)> on_end) {
  if (options.pods == nullptr) {
    return nullptr;
  }
  return std::make_unique<InPlaceReloads>(InPlaceReloads::Options{.clock = options.clock,
                                                                  .registry = options.registry,
                                                                  .times = options.in_place_times,
                                                                  .on_end = std::move(on_end)},
                                          *options.pods);
}

}  // namespace kubexx::reloader
