/// @file
/// Kubernetes Events about writes.
#ifndef KUBEXX_RELOADER_WRITE_WRITE_EVENTS_H_
#define KUBEXX_RELOADER_WRITE_WRITE_EVENTS_H_

#include <map>
#include <memory>
#include <string>

#include "kubexx/base/executor/executor.h"
#include "kubexx/events/core_recorder.h"
#include "kubexx/events/recorder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The object reference of an Event about a workload.
api::core::v1::ObjectReference ReferenceTo(const WorkloadId& workload, const std::string& uid);

/// The Event that stakater/Reloader creates about one source of a write: Normal "Reloaded" or
/// Warning "ReloadFail". It refers to the workload.
events::Occurrence EventAbout(const WriteReport& report, const SourceId& source);

/// Records an Event for every source of every write. The component is "reloader-<plural>" of the
/// source's type. Thread-safe.
class WriteEvents final : public WriteObserver {
 public:
  using Recorders = std::map<SourceType, std::unique_ptr<events::Recorder>>;

  /// One recorder for each type of source.
  explicit WriteEvents(Recorders recorders) : recorders_(std::move(recorders)) {}
  void OnWrite(const WriteReport& report) override;
  /// Records a Warning.
  void OnNotice(const WorkloadNotice& notice) override;

 private:
  const Recorders recorders_;
};

/// Records Events through `client`. The destructor sends the remaining ones, for up to a second.
/// `executor`: see events::RecorderOptions.
std::unique_ptr<WriteEvents> NewWriteEvents(const std::shared_ptr<rest::RESTClient>& client,
                                            metrics::Registry* registry,
                                            std::shared_ptr<base::Executor> executor);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_WRITE_EVENTS_H_
