#include "kubexx/reloader/write/write_events.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
api::core::v1::ObjectReference ReferenceTo(const WorkloadId& workload, const std::string& uid) {
  const apimachinery::ResourceInfo& resource = ResourceOf(workload.kind);
  api::core::v1::ObjectReference reference;
  reference.api_version = resource.ApiVersion();
  reference.kind = resource.kind;
  reference.namespace_ = workload.key.namespace_;
  reference.name = workload.key.name;
  reference.uid = uid;
  return reference;
}

events::Occurrence EventAbout(const WriteReport& report, const SourceId& source) {
  const std::string_view kind = KindName(report.workload.kind);
  const apimachinery::ObjectKey& key = report.workload.key;
  events::Occurrence occurrence;
  occurrence.regarding = ReferenceTo(report.workload, report.uid);
  const apimachinery::ObjectKey object = ObjectKeyOf(source);
  const auto quote = [](std::string_view text) { return "'" + std::string(text) + "'"; };
  const std::string workload =
      quote(key.name) + " of type " + quote(kind) + " in namespace " + quote(key.namespace_);
  if (report.outcome) {
    occurrence.reason = "Reloaded";
    occurrence.note =
        "Changes detected in " + quote(object.name) + " of type " +
        quote(NamesOf(source.type).upper) + " in namespace " + quote(object.namespace_) +
        (!report.in_place.empty() ? ", Reloaded the pods by " + quote(report.in_place) + " of "
         : report.job.empty()     ? ", Updated "
                                  : ", made Job " + quote(report.job) + " of ") +
        workload +
        (report.paused && report.in_place.empty()
             ? "; it is paused, and its pods follow when it is resumed"
             : "");
  } else {
    occurrence.type = events::EventType::kWarning;
    occurrence.reason = "ReloadFail";
    occurrence.note =
        "Update for " + workload + " failed with error " + report.outcome.error().message;
  }
  return occurrence;
}

void WriteEvents::OnWrite(const WriteReport& report) {
  for (const SourceId& source : report.causes) {
    if (const auto recorder = recorders_.find(source.type); recorder != recorders_.end()) {
      recorder->second->Record(EventAbout(report, source));
    }
  }
}

void WriteEvents::OnNotice(const WorkloadNotice& notice) {
  if (recorders_.empty()) {
    return;
  }
  recorders_.begin()->second->Record({.regarding = ReferenceTo(notice.workload, notice.uid),
                                      .type = events::EventType::kWarning,
                                      .reason = notice.reason,
                                      .note = notice.message});
}

std::unique_ptr<WriteEvents> NewWriteEvents(const std::shared_ptr<rest::RESTClient>& client,
                                            metrics::Registry* registry,
                                            std::shared_ptr<base::Executor> executor) {
  const auto sink = std::make_shared<events::ClientSink<api::core::v1::Event>>(client);
  WriteEvents::Recorders recorders;
  for (const SourceType type : AllSourceTypes()) {
    events::RecorderOptions options{.component = "reloader-" + std::string(NamesOf(type).plural),
                                    .flush_limit = std::chrono::seconds(1),
                                    .registry = registry,
                                    .executor = executor};
    recorders.emplace(type, std::make_unique<events::CoreRecorder>(sink, std::move(options)));
  }
  return std::make_unique<WriteEvents>(std::move(recorders));
}

}  // namespace kubexx::reloader
