#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/baseline.h"
#include "kubexx/reloader/denial.h"
#include "kubexx/reloader/digest.h"
#include "kubexx/reloader/kind_writers.h"
#include "kubexx/reloader/patch.h"
#include "kubexx/reloader/template_edit.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::Unstructured;

/// Of a Job that rolls a CronJob: when it was asked for, in microseconds since 1970, and the token
/// of the change, with a blank between. Of the CronJob: the token of its last rollout.
constexpr char kRolledFor[] = "kubexx.io/rolled-for";

/// The server lets a CronJob's name have 52 characters, so that nothing of it is cut off.
constexpr std::size_t kMaxJobName = 63;
constexpr std::size_t kSuffix = 10;

/// When a Job was made for a change, and for which.
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

/// An annotation; empty when there is none.
std::string NoteOf(const Unstructured& cron_job, std::string_view key) {
  const auto annotations = cron_job.Annotations();
  const auto found = annotations.find(std::string(key));
  return found == annotations.end() ? std::string() : found->second;
}

/// Whether the CronJob says already that it has what `write` rolls it for.
bool IsRecorded(const Unstructured& cron_job, const WorkloadWrite& write) {
  const auto baseline = write.annotations.find(std::string(kBaselineAnnotation));
  return baseline != write.annotations.end() && baseline->second &&
         NoteOf(cron_job, kBaselineAnnotation) == *baseline->second;
}

bool IsOwnedBy(const dynamic::PartialObjectMetadata& job, const std::string& uid) {
  for (const auto& owner : job.metadata.owner_references) {
    if (owner.uid == uid) {
      return true;
    }
  }
  return false;
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
  JsonTree owner = JsonTree::Object();
  owner["apiVersion"] = "batch/v1";
  owner["kind"] = "CronJob";
  owner["name"] = cron_job.Name();
  owner["uid"] = cron_job.Uid();
  owner["controller"] = true;
  owner["blockOwnerDeletion"] = true;
  metadata["ownerReferences"].Append(std::move(owner));
  if (const JsonTree* spec = job_template->Find("spec")) {
    job["spec"] = *spec;
  }
  KX_RETURN_IF_ERROR(EditTemplate(write, job["spec"]["template"]));
  return Unstructured::FromTree(std::move(job));
}

bool IsToRun(const Unstructured& cron_job) {
  return IsToRun(cron_job.GetBool({"spec", "suspend"}).value_or(false), cron_job.Annotations());
}

bool IsToRun(bool is_suspended, const std::map<std::string, std::string>& annotations) {
  const auto found = annotations.find(kRunSuspended);
  return !is_suspended || (found != annotations.end() && found->second == "true");
}

Result<CronJobWriter::MadeJobs> CronJobWriter::JobsFor(const Unstructured& cron_job,
                                                       const std::string& token, bool is_unique,
                                                       const std::stop_token& stop) const {
  const dynamic::MetadataResource jobs =
      dynamic::MetadataClient(client_).Resource({"batch", "v1", "jobs"}, cron_job.Namespace());
  const auto list = jobs.List({}, stop);
  if (!list && !IsMissingRight(list.status())) {
    return Fail(list.status().WithContext("look for the Job of an earlier try"));
  }
  if (!list) {
    // Nothing can be looked for; the memory of this process remains.
    logging::Debug("Jobs of a CronJob cannot be listed", {{"cronjob", cron_job.Name()},
                                                          {"namespace", cron_job.Namespace()},
                                                          {"error", list.status()}});
    return MadeJobs();
  }
  const std::string uid = cron_job.Uid();
  RolledFor newest;
  for (const dynamic::PartialObjectMetadata& job : list->items) {
    const auto note = job.metadata.annotations.find(kRolledFor);
    if (note == job.metadata.annotations.end() || !IsOwnedBy(job, uid)) {
      continue;
    }
    RolledFor each = ParseRolledFor(note->second);
    if (is_unique && each.when > 0 && each.token == token) {
      // Whatever the clocks of those who made the others said.
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
  // A token that is not unique is made so by the Job before: data that come back are another
  // change.
  const std::string change = is_unique ? token : token + ";" + newest.job;
  return MadeJobs{.name = cron_job.Name().substr(0, kMaxJobName - kSuffix - 1) + "-" +
                          DigestOf(change).ToString().substr(0, kSuffix)};
}

Result<std::string> CronJobWriter::CreateJob(const Unstructured& cron_job,
                                             const WorkloadWrite& write, const std::string& name,
                                             const std::stop_token& stop) const {
  const dynamic::DynamicResource jobs =
      ResourceFor(client_, WorkloadKind::kJob, cron_job.Namespace());
  const kubernetes::CreateOptions options{.field_manager = std::string(kFieldManager)};
  KX_ASSIGN_OR_RETURN(Unstructured job, InstantiatedJob(cron_job, write, clock_.Wall()));
  if (!name.empty()) {
    job.SetName(name);
  }
  const auto created = jobs.Create(job, options, stop);
  if (created) {
    return created->Name();
  }
  if (created.status().reason != Reason::kForbidden) {
    return Fail(created.status());
  }
  // An admission plugin lets only those set blockOwnerDeletion who may update finalizers of
  // CronJobs, which a small role does not grant.
  KX_RETURN_IF_ERROR(
      job.Set({"metadata", "ownerReferences", "0", "blockOwnerDeletion"}, JsonTree(false)));
  KX_ASSIGN_OR_RETURN(const Unstructured smaller, jobs.Create(job, options, stop));
  return smaller.Name();
}

Result<std::string> CronJobWriter::JobFor(const Unstructured& cron_job, const WorkloadWrite& write,
                                          bool is_unique, const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(const MadeJobs made, JobsFor(cron_job, write.token, is_unique, stop));
  if (!made.job.empty()) {
    return made.job;
  }
  auto created = CreateJob(cron_job, write, made.name, stop);
  if (created || made.name.empty() || created.status().reason != Reason::kAlreadyExists) {
    return created;
  }
  // Another operator has made it since, for the same change; or it is somebody else's.
  KX_ASSIGN_OR_RETURN(const MadeJobs present, JobsFor(cron_job, write.token, is_unique, stop));
  return present.job.empty() ? CreateJob(cron_job, write, "", stop) : present.job;
}

Result<WriteOutcome> CronJobWriter::Write(const ObjectKey& key, const WorkloadWrite& write,
                                          std::stop_token stop) {
  WriteOutcome outcome{.rolled = write.Rolls()};
  AnnotationEdits annotations = write.annotations;
  if (write.Rolls()) {
    const dynamic::DynamicResource cron_jobs =
        ResourceFor(client_, WorkloadKind::kCronJob, key.namespace_);
    KX_ASSIGN_OR_RETURN(const Unstructured cron_job, cron_jobs.Get(key.name, {}, stop));
    if (!write.uid.empty() && cron_job.Uid() != write.uid) {
      return Fail(Reason::kConflict, "the CronJob was deleted and created again");
    }
    if (!IsToRun(cron_job)) {
      outcome.rolled = false;
      outcome.left_alone = kSuspendedText;
    } else {
      // Going back to data that a Job was made for is another rollout: each is named by the one
      // before it, too. One that has been recorded was made by a try whose answer was lost.
      const std::string before = NoteOf(cron_job, kRolledFor);
      WorkloadWrite next = write;
      next.token = !before.empty() && IsRecorded(cron_job, write)
                       ? before
                       : DigestOf(write.token + ";" + before).ToString();
      KX_ASSIGN_OR_RETURN(outcome.job, JobFor(cron_job, next, !before.empty(), stop));
      if (annotations.contains(std::string(kBaselineAnnotation))) {  // or nothing is to be recorded
        annotations[kRolledFor] = next.token;
      }
    }
  }
  KX_RETURN_IF_ERROR(RecordAnnotations(client_, {WorkloadKind::kCronJob, key}, annotations,
                                       fallbacks_, std::move(stop), outcome));
  return outcome;
}

}  // namespace kubexx::reloader
