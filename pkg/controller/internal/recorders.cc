#include "kubexx/controller/internal/recorders.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "kubexx/api/events/v1/resources.gen.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller::internal {

std::shared_ptr<events::Recorder> Recorders::For(const std::string& component) {
  const base::MutexLock lock(mu_);
  if (const auto found = recorders_.find(component); found != recorders_.end()) {
    return found->second;
  }
  events::RecorderOptions options{.component = component, .clock = clock_};
  options.registry = &registry_;
  // It needs a thread, and may not get one.
  const auto recorder = std::make_shared<events::SeriesRecorder>(
      std::make_shared<events::ClientSink<api::events::v1::Event>>(client_), std::move(options));
  if (stopped_) {
    recorder->RequestStop();  // nobody would wait for the Events that it still takes
  }
  recorders_.emplace(component, recorder);
  return recorder;
}

std::vector<std::shared_ptr<events::SeriesRecorder>> Recorders::Close() {
  const base::MutexLock lock(mu_);
  stopped_ = true;
  std::vector<std::shared_ptr<events::SeriesRecorder>> recorders;
  for (const auto& [component, recorder] : recorders_) {
    recorders.push_back(recorder);
  }
  return recorders;
}

void Recorders::StopAll(std::span<Recorders* const> all) {
  std::vector<std::shared_ptr<events::SeriesRecorder>> closed;
  for (Recorders* const each : all) {
    std::ranges::move(each->Close(), std::back_inserter(closed));
  }
  for (const auto& recorder : closed) {
    recorder->RequestStop();
  }
  for (const auto& recorder : closed) {
    recorder->Stop();
  }
}

void LeaseTransitions::Record(const api::core::v1::ObjectReference& lease, std::string_view reason,
                              std::string_view message) {
  events::Occurrence occurrence;
  occurrence.regarding = lease;
  occurrence.reason = reason;
  occurrence.note = message;
  try {
    recorders_.For("leader-election")->Record(std::move(occurrence));
  } catch (const std::exception& error) {  // The leader goes on without its Event.
    logging::Warning("Cannot record an Event about the leader",
                     {{"reason", reason}, {"error", error.what()}});
  }
}

}  // namespace kubexx::controller::internal
