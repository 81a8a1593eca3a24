#include <memory>
#include <utility>

#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/reloader/kind_writers.h"
#include "kubexx/reloader/kubernetes_io.h"
#include "kubexx/reloader/patch.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

apimachinery::GroupVersionResource GvrOf(WorkloadKind kind) {
  const apimachinery::ResourceInfo& resource = ResourceOf(kind);
  return {std::string(resource.group), std::string(resource.version), std::string(resource.plural)};
}

// The answer to a patch is the object: its metadata will do.
dynamic::MetadataResource MetadataOf(const std::shared_ptr<rest::RESTClient>& client,
                                     const WorkloadId& workload) {
  return dynamic::MetadataClient(client).Resource(GvrOf(workload.kind), workload.key.namespace_);
}

/// Sends each write to the writer of its kind.
class RestWriter final : public WorkloadWriter {
 public:
  RestWriter(std::shared_ptr<rest::RESTClient> client, std::shared_ptr<Fallbacks> fallbacks,
             base::Clock& clock)
      : client_(client),
        fallbacks_(std::move(fallbacks)),
        cron_jobs_(client, *fallbacks_, clock),
        jobs_(client, *fallbacks_),
        custom_(client, *fallbacks_) {}

  Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                             std::stop_token stop) override {
    if (write.empty()) {
      return WriteOutcome{.rolled = false};
    }
    switch (workload.kind) {
      case WorkloadKind::kDeployment:
      case WorkloadKind::kDaemonSet:
      case WorkloadKind::kStatefulSet:
        return Patch(workload, write, std::move(stop));
      case WorkloadKind::kCronJob:
        return cron_jobs_.Write(workload.key, write, std::move(stop));
      case WorkloadKind::kJob:
        return jobs_.Write(workload.key, write, std::move(stop));
      case WorkloadKind::kRollout:
      case WorkloadKind::kDeploymentConfig:
        return custom_.Write(workload, write, std::move(stop));
    }
    return Fail(Reason::kInternalError, "unknown kind of workload");
  }

  Result<void> Finish(const WorkloadId& workload, std::stop_token stop) override {
    return workload.kind == WorkloadKind::kJob ? jobs_.Finish(workload.key, std::move(stop))
                                               : Result<void>();
  }

  Result<bool> Recover(const WorkloadId& keeper, std::stop_token stop) override {
    return jobs_.Recover(keeper.key, std::move(stop));
  }

 private:
  Result<WriteOutcome> Patch(const WorkloadId& workload, const WorkloadWrite& write,
                             std::stop_token stop) {
    if (!write.Rolls() && !write.paused) {
      WriteOutcome outcome{.rolled = false};
      KX_ASSIGN_OR_RETURN(outcome.recorded, RecordAnnotations(client_, workload, write.annotations,
                                                              *fallbacks_, std::move(stop)));
      return outcome;
    }
    KX_RETURN_IF_ERROR(
        MetadataOf(client_, workload)
            .Patch(workload.key.name,
                   {.type = rest::PatchType::kStrategicMerge, .text = StrategicMergePatch(write)},
                   {.field_manager = std::string(kFieldManager)}, std::move(stop)));
    return WriteOutcome{.rolled = write.Rolls()};
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const std::shared_ptr<Fallbacks> fallbacks_;
  CronJobWriter cron_jobs_;
  JobWriter jobs_;
  CustomWriter custom_;
};

}  // namespace

dynamic::DynamicResource ResourceFor(const std::shared_ptr<rest::RESTClient>& client,
                                     WorkloadKind kind, std::string namespace_) {
  return dynamic::DynamicClient(client).Resource(GvrOf(kind), std::move(namespace_));
}

Result<bool> RecordAnnotations(const std::shared_ptr<rest::RESTClient>& client,
                               const WorkloadId& workload, const AnnotationEdits& annotations,
                               Fallbacks& fallbacks, std::stop_token stop) {
  constexpr std::string_view kVerb = "patch";
  if (annotations.empty()) {
    return true;
  }
  if (!fallbacks.ShouldTry(workload.kind, kVerb)) {
    return false;
  }
  const auto patched =
      MetadataOf(client, workload)
          .Patch(workload.key.name,
                 {.type = rest::PatchType::kMerge, .text = AnnotationsPatch(annotations).ToJson()},
                 {.field_manager = std::string(kFieldManager)}, std::move(stop));
  if (patched) {
    fallbacks.Granted(workload.kind, kVerb);
    return true;
  }
  if (patched.status().reason != Reason::kForbidden) {
    return Fail(patched.status());
  }
  fallbacks.Refused(workload.kind, kVerb, patched.status(),
                    "what was rolled for is remembered until the process ends");
  return false;
}

std::unique_ptr<WorkloadWriter> NewWriter(std::shared_ptr<rest::RESTClient> client,
                                          std::shared_ptr<Fallbacks> fallbacks,
                                          base::Clock& clock) {
  if (!fallbacks) {
    fallbacks = std::make_shared<Fallbacks>(nullptr, clock);
  }
  return std::make_unique<RestWriter>(std::move(client), std::move(fallbacks), clock);
}

}  // namespace kubexx::reloader
