#include <memory>
#include <string_view>
#include <utility>

#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/reloader/write/patch.h"
#include "kubexx/reloader/write/template_edit.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr char kKeptTemplate[] =
    "the API server left its pod template unchanged; perhaps an admission webhook reverts the "
    "change";

apimachinery::GroupVersionResource GvrOf(WorkloadKind kind) {
  const apimachinery::ResourceInfo& resource = ResourceOf(kind);
  return {std::string(resource.group), std::string(resource.version), std::string(resource.plural)};
}

// The answer to a patch is the object, and its metadata are enough.
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
    auto written = WriteKind(workload, write, std::move(stop));
    if (!written) {
      fallbacks_->CountRefusedWrite(written.error());
    }
    return written;
  }

  Result<void> Finish(const WorkloadId& workload, std::stop_token stop) override {
    return workload.kind == WorkloadKind::kJob ? jobs_.Finish(workload.key, std::move(stop))
                                               : Result<void>();
  }

  Result<bool> Recover(const WorkloadId& keeper, std::stop_token stop) override {
    return jobs_.Recover(keeper.key, std::move(stop));
  }

 private:
  Result<WriteOutcome> WriteKind(const WorkloadId& workload, const WorkloadWrite& write,
                                 std::stop_token stop) {
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
    return custom_.Write(workload, write, std::move(stop));  // one of CustomKinds
  }

  Result<WriteOutcome> Patch(const WorkloadId& workload, const WorkloadWrite& write,
                             std::stop_token stop) {
    if (!write.Rolls() && !write.paused) {
      WriteOutcome outcome{.rolled = false};
      KX_RETURN_IF_ERROR(RecordAnnotations(client_, workload, write.annotations,
                                           write.resource_version, Records::kBaseline, *fallbacks_,
                                           std::move(stop), outcome));
      return outcome;
    }
    kubernetes::RawPatch patch{.type = rest::PatchType::kStrategicMerge,
                               .text = StrategicMergePatch(write)};
    const kubernetes::PatchOptions options{.field_manager = std::string(kFieldManager)};
    if (workload.kind == WorkloadKind::kDeployment) {
      KX_ASSIGN_OR_RETURN(
          const auto patched,
          ResourceFor(client_, workload.kind, workload.key.namespace_)
              .Patch(workload.key.name, std::move(patch), options, std::move(stop)));
      WriteOutcome outcome = PatchOutcome(write, patched);
      outcome.version = VersionNumber(patched.ResourceVersion());
      return outcome;
    }
    KX_ASSIGN_OR_RETURN(const auto patched,
                        MetadataOf(client_, workload)
                            .Patch(workload.key.name, std::move(patch), options, std::move(stop)));
    WriteOutcome outcome = PatchOutcome(write, patched.metadata.generation);
    outcome.version = VersionNumber(patched.metadata.resource_version);
    return outcome;
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const std::shared_ptr<Fallbacks> fallbacks_;
  CronJobWriter cron_jobs_;
  JobWriter jobs_;
  CustomWriter custom_;
};

}  // namespace

WriteOutcome PatchOutcome(const WorkloadWrite& write, std::int64_t generation) {
  WriteOutcome outcome{.rolled = write.Rolls()};
  if (outcome.rolled && write.generation != 0 && write.generation == generation) {
    outcome.rolled = false;
    outcome.left_alone = kKeptTemplate;
  }
  return outcome;
}

WriteOutcome PatchOutcome(const WorkloadWrite& write, const dynamic::Unstructured& answer) {
  WriteOutcome outcome{.rolled = write.Rolls()};
  const codec::JsonTree* present = answer.Get({"spec", "template"});
  codec::JsonTree edited = present == nullptr ? codec::JsonTree::Object() : *present;
  // When the object already has the edits, making them changes nothing.
  const bool is_made = EditTemplate(write, edited) && present != nullptr && edited == *present;
  if (outcome.rolled && !is_made) {
    outcome.rolled = false;
    outcome.left_alone = kKeptTemplate;
  }
  return outcome;
}

dynamic::DynamicResource ResourceFor(const std::shared_ptr<rest::RESTClient>& client,
                                     WorkloadKind kind, std::string namespace_) {
  return dynamic::DynamicClient(client).Resource(GvrOf(kind), std::move(namespace_));
}

Result<void> RecordAnnotations(const std::shared_ptr<rest::RESTClient>& client,
                               const WorkloadId& workload, const AnnotationEdits& annotations,
                               const std::string& version, Records records, Fallbacks& fallbacks,
                               std::stop_token stop, WriteOutcome& outcome) {
  if (annotations.empty()) {
    return {};
  }
  const Right right{
      .kind = KindName(workload.kind), .verb = "patch", .namespace_ = workload.key.namespace_};
  if (records == Records::kBaseline && !fallbacks.ShouldTry(right)) {
    outcome.recorded = false;
    return {};
  }
  codec::JsonTree patch = AnnotationsPatch(annotations);
  if (!version.empty()) {
    patch["metadata"]["resourceVersion"] = version;
  }
  const std::string_view manager = records == Records::kJob ? kFieldManager : kRecordsManager;
  auto patched =
      MetadataOf(client, workload)
          .Patch(workload.key.name, {.type = rest::PatchType::kMerge, .text = patch.ToJson()},
                 {.field_manager = std::string(manager)}, std::move(stop));
  if (patched) {
    fallbacks.Granted(right);
    outcome.version = VersionNumber(patched->metadata.resource_version);
    return {};
  }
  if (!IsDenied(patched.error())) {
    return Fail(patched.error());
  }
  fallbacks.CountRefusedWrite(patched.error());
  if (IsMissingRight(patched.error())) {
    fallbacks.Refused(right, patched.error(),
                      "the operator remembers only until the process ends which data workloads "
                      "run with: for workloads that were never rolled it misses changes that "
                      "are made while no operator runs");
  }
  outcome.recorded = false;
  outcome.refusal = std::move(patched.error());
  return {};
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
