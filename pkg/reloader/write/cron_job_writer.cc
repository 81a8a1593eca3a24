#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/owner_reference.h"
#include "kubexx/codec/codec.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload_decode.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/reloader/write/patch.h"
#include "kubexx/reloader/write/template_edit.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::Unstructured;

/// The server limits the name of a CronJob to 52 characters, so no part of it is cut.
constexpr std::size_t kMaxJobName = 63;
constexpr std::size_t kSuffix = 10;

/// The status of a CronJob changes with each of its Jobs, so a write may meet several conflicts.
constexpr int kMaxRecordTries = 5;

/// The time when a Job was made for a change, and that change.
struct RolledFor {
  std::int64_t when = 0;
  std::string token{};
  std::string job{};
};

RolledFor ParseRolledFor(const std::string& text) {
  const std::size_t blank = text.find(' ');
  RolledFor result;
  if (blank == std::string::npos) {
    return result;
  }
  for (const char c : text.substr(0, blank)) {
    if (c < '0' || c > '9' || result.when > INT64_MAX / 10 - 10) {
      return {};
    }
    result.when = result.when * 10 + (c - '0');
  }
  result.token = text.substr(blank + 1);
  return result;
}

/// Returns an annotation, or an empty text when there is none.
std::string NoteOf(const Unstructured& cron_job, std::string_view key) {
  const auto annotations = cron_job.Annotations();
  const auto found = annotations.find(std::string(key));
  return found == annotations.end() ? std::string() : found->second;
}

/// Whether the CronJob's annotations already have everything for which `write` rolls it.
bool IsRecorded(const Unstructured& cron_job, const WorkloadWrite& write) {
  const auto baseline = write.annotations.find(std::string(kBaselineAnnotation));
  return baseline != write.annotations.end() && baseline->second &&
         NoteOf(cron_job, kBaselineAnnotation) == *baseline->second;
}

/// Returns the change for which a Job was made. It is empty when the Job is not of the CronJob with
/// that uid.
RolledFor RolledForOf(const dynamic::PartialObjectMetadata& job, const std::string& uid) {
  const auto note = job.metadata.annotations.find(kRolledFor);
  return note == job.metadata.annotations.end() || !controller::IsOwnedBy(job.metadata, uid)
             ? RolledFor()
             : ParseRolledFor(note->second);
}

}  // namespace

Result<Unstructured> InstantiatedJob(const Unstructured& cron_job, const WorkloadWrite& write,
                                     base::WallTime now) {
  const JsonTree* job_template = cron_job.Get({"spec", "jobTemplate"});
  if (job_template == nullptr) {
    return Fail(Reason::kConflict, "the CronJob has no jobTemplate");
  }
  JsonTree job = JsonTree::Object();
  job["apiVersion"] = "batch/v1";
  job["kind"] = "Job";
  JsonTree& metadata = job["metadata"];
  metadata["generateName"] = cron_job.Name() + "-";
  metadata["namespace"] = cron_job.Namespace();
  if (const JsonTree* labels = job_template->At({"metadata", "labels"})) {
    metadata["labels"] = *labels;
  }
  JsonTree& annotations = metadata["annotations"];
  annotations["cronjob.kubernetes.io/instantiate"] = "manual";
  if (const JsonTree* own = job_template->At({"metadata", "annotations"})) {
    for (const JsonTree::Member& member : own->members()) {
      annotations[member.key] = member.value;
    }
  }
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  annotations[kRolledFor] = std::to_string(micros) + " " + write.token;
  auto owner =
      api::OwnerReferenceTo(api::batch::v1::kCronJobResource, cron_job.Name(), cron_job.Uid());
  owner.controller = true;
  owner.block_owner_deletion = true;
  KX_ASSIGN_OR_RETURN(JsonTree reference, JsonTree::Parse(codec::EncodeJson(owner)));
  metadata["ownerReferences"].Append(std::move(reference));
  if (const JsonTree* spec = job_template->Find("spec")) {
    job["spec"] = *spec;
  }
  KX_RETURN_IF_ERROR(EditTemplate(write, job["spec"]["template"]));
  return Unstructured::FromTree(std::move(job));
}

bool IsToRun(const Unstructured& cron_job) {
  return IsToRun(cron_job.GetBool({"spec", "suspend"}).value_or(false), cron_job.Annotations());
}

Result<CronJobWriter::MadeJobs> CronJobWriter::JobsFor(const Unstructured& cron_job,
                                                       const std::string& token, bool is_unique,
                                                       const std::stop_token& stop) const {
  const dynamic::MetadataResource jobs =
      dynamic::MetadataClient(client_).Resource({"batch", "v1", "jobs"}, cron_job.Namespace());
  const auto list = jobs.List({}, stop);
  if (!list && !IsMissingRight(list.error())) {
    return Fail(list.error().WithContext("look for the Job of an earlier try"));
  }
  if (!list) {
    // The Jobs cannot be searched, so only this process's memory is used.
    logging::Debug("Cannot list the Jobs of a CronJob", {{"cronjob", cron_job.Name()},
                                                         {"namespace", cron_job.Namespace()},
                                                         {"error", list.error()}});
    return MadeJobs();
  }
  const std::string uid = cron_job.Uid();
  RolledFor newest;
  for (const dynamic::PartialObjectMetadata& job : list->items) {
    RolledFor each = RolledForOf(job, uid);
    if (is_unique && each.when > 0 && each.token == token) {
      // The order does not depend on the clocks of the processes that made the other Jobs.
      return MadeJobs{.job = job.metadata.name};
    }
    if (each.when > newest.when) {
      newest = std::move(each);
      newest.job = job.metadata.name;
    }
  }
  if (newest.when > 0 && newest.token == token) {
    return MadeJobs{.job = newest.job};
  }
  // The Job before makes a token unique that is not: data that come back are another change.
  const std::string change = is_unique ? token : token + ";" + newest.job;
  return MadeJobs{.name = cron_job.Name().substr(0, kMaxJobName - kSuffix - 1) + "-" +
                          DigestOf(change).ToString().substr(0, kSuffix)};
}

Result<CronJobWriter::JobOfChange> CronJobWriter::CreateJob(const Unstructured& cron_job,
                                                            const WorkloadWrite& write,
                                                            const std::string& name,
                                                            const std::stop_token& stop) const {
  const auto of = [](const Unstructured& made) {
    return JobOfChange{.name = made.Name(), .version = VersionNumber(made.ResourceVersion())};
  };
  const dynamic::DynamicResource jobs =
      ResourceFor(client_, WorkloadKind::kJob, cron_job.Namespace());
  const kubernetes::CreateOptions options{.field_manager = std::string(kFieldManager)};
  KX_ASSIGN_OR_RETURN(Unstructured job, InstantiatedJob(cron_job, write, clock_.Wall()));
  if (!name.empty()) {
    job.SetName(name);
  }
  const auto created = jobs.Create(job, options, stop);
  if (created) {
    return of(*created);
  }
  if (created.error().reason != Reason::kForbidden) {
    return Fail(created.error());
  }
  // An admission plugin lets only clients set blockOwnerDeletion that may update the finalizers of
  // CronJobs, which a small role does not grant.
  KX_RETURN_IF_ERROR(
      job.Set({"metadata", "ownerReferences", "0", "blockOwnerDeletion"}, JsonTree(false)));
  KX_ASSIGN_OR_RETURN(const Unstructured smaller, jobs.Create(job, options, stop));
  return of(smaller);
}

Result<std::optional<bool>> CronJobWriter::IsMadeFor(const Unstructured& cron_job,
                                                     const std::string& name,
                                                     const std::string& token,
                                                     const std::stop_token& stop) const {
  const auto job = dynamic::MetadataClient(client_)
                       .Resource({"batch", "v1", "jobs"}, cron_job.Namespace())
                       .Get(name, stop);
  const bool is_gone = !job && apimachinery::IsObjectNotFound(job.error());
  if (!job && !is_gone && !IsMissingRight(job.error())) {
    return Fail(job.error().WithContext("look for the Job of another try"));
  }
  if (!job) {
    return is_gone ? std::optional(false) : std::nullopt;
  }
  return std::optional(RolledForOf(*job, cron_job.Uid()).token == token);
}

Result<CronJobWriter::JobOfChange> CronJobWriter::JobFor(const Unstructured& cron_job,
                                                         const WorkloadWrite& write, bool is_unique,
                                                         const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(const MadeJobs made, JobsFor(cron_job, write.token, is_unique, stop));
  if (!made.job.empty()) {
    return JobOfChange{.name = made.job};
  }
  auto created = CreateJob(cron_job, write, made.name, stop);
  if (created || made.name.empty() || created.error().reason != Reason::kAlreadyExists) {
    return created;
  }
  // Another operator has made it meanwhile for the same change, or it belongs to somebody else.
  KX_ASSIGN_OR_RETURN(const std::optional<bool> is_made,
                      IsMadeFor(cron_job, made.name, write.token, stop));
  if (!is_made) {  // the client may not read the Job, but may find it in a list
    KX_ASSIGN_OR_RETURN(const MadeJobs present, JobsFor(cron_job, write.token, is_unique, stop));
    return present.job.empty() ? CreateJob(cron_job, write, "", stop)
                               : Result<JobOfChange>({.name = present.job});
  }
  return *is_made ? Result<JobOfChange>({.name = made.name}) : CreateJob(cron_job, write, "", stop);
}

Result<void> CronJobWriter::RecordRollout(const Unstructured& cron_job,
                                          const AnnotationEdits& annotations,
                                          const std::string& before, const std::stop_token& stop,
                                          WriteOutcome& outcome) const {
  const WorkloadId id{WorkloadKind::kCronJob, {cron_job.Namespace(), cron_job.Name()}};
  const auto ours = annotations.find(kRolledFor);
  const Records records = ours == annotations.end() ? Records::kRollout : Records::kJob;
  std::string version = cron_job.ResourceVersion();
  for (int tries = 1;; ++tries) {
    auto recorded =
        RecordAnnotations(client_, id, annotations, version, records, fallbacks_, stop, outcome);
    if (recorded || recorded.error().reason != Reason::kConflict) {
      return recorded;
    }
    // Most likely the CronJobs' controller has written that there is a Job. The Job is made. That
    // it cannot be recorded is not a failure, because then everything would be tried again.
    outcome.recorded = false;
    outcome.refusal = std::move(recorded.error());
    const auto now = ResourceFor(client_, id.kind, id.key.namespace_).Get(id.key.name, {}, stop);
    if (!now || tries >= kMaxRecordTries) {
      return {};
    }
    const std::string noted = NoteOf(*now, kRolledFor);
    const bool is_ours = noted == before || (ours != annotations.end() && noted == ours->second);
    if (now->Uid() != cron_job.Uid() || !is_ours) {
      // Another operator has recorded a later rollout, which counts more than this one.
      outcome.refusal.reset();
      outcome.version = VersionNumber(cron_job.ResourceVersion());
      return {};
    }
    version = now->ResourceVersion();
    outcome.recorded = true;
    outcome.refusal.reset();
  }
}

Result<WriteOutcome> CronJobWriter::Roll(const ObjectKey& key, const WorkloadWrite& write,
                                         const std::stop_token& stop) {
  WriteOutcome outcome{.rolled = true};
  AnnotationEdits annotations = write.annotations;
  const dynamic::DynamicResource cron_jobs =
      ResourceFor(client_, WorkloadKind::kCronJob, key.namespace_);
  const auto read = cron_jobs.Get(key.name, {}, stop);
  if (!read) {
    return Fail(BeforeTheWrite(read.error()));
  }
  const Unstructured& cron_job = *read;
  if (!write.uid.empty() && cron_job.Uid() != write.uid) {
    return Fail(Reason::kConflict, "the CronJob was deleted and created again");
  }
  // Another operator may meanwhile have made Jobs for this change and for later ones, and then a
  // Job for this change would be one too many.
  if (!write.resource_version.empty() && cron_job.ResourceVersion() != write.resource_version) {
    return Fail(Reason::kConflict, "the CronJob has changed since the rollout was planned");
  }
  // Going back to data for which a Job was made is another rollout, so the name of each rollout
  // contains the one before it.
  const std::string before = NoteOf(cron_job, kRolledFor);
  if (!IsToRun(cron_job)) {
    outcome.rolled = false;
    outcome.left_alone = kSuspendedText;
    annotations.erase(std::string(kHistoryAnnotation));  // there is no rollout
  } else {
    // When the write names no version, a recorded change was made by an attempt whose answer was
    // lost.
    const bool is_made =
        write.resource_version.empty() && !before.empty() && IsRecorded(cron_job, write);
    WorkloadWrite next = write;
    next.token = is_made ? before : DigestOf(write.token + ";" + before).ToString();
    KX_ASSIGN_OR_RETURN(const JobOfChange job, JobFor(cron_job, next, !before.empty(), stop));
    outcome.job = job.name;
    outcome.template_version = job.version;
    // Without a baseline there is nothing to record.
    if (annotations.contains(std::string(kBaselineAnnotation))) {
      annotations[kRolledFor] = next.token;
    }
  }
  KX_RETURN_IF_ERROR(RecordRollout(cron_job, annotations, before, stop, outcome));
  return outcome;
}

Result<WriteOutcome> CronJobWriter::Write(const ObjectKey& key, const WorkloadWrite& write,
                                          std::stop_token stop) {
  if (write.Rolls()) {
    return Roll(key, write, stop);
  }
  WriteOutcome outcome{.rolled = false};
  KX_RETURN_IF_ERROR(RecordAnnotations(client_, {WorkloadKind::kCronJob, key}, write.annotations,
                                       write.resource_version, Records::kBaseline, fallbacks_,
                                       std::move(stop), outcome));
  return outcome;
}

}  // namespace kubexx::reloader
