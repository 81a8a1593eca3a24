#include <algorithm>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/workload_decode.h"
#include "kubexx/reloader/write/job_content.h"
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
using apimachinery::Status;
using codec::JsonTree;
using dynamic::Unstructured;

constexpr int kMaxJobTries = 5;

/// The number of checks, two seconds apart, that find a Job untouched that was to be deleted,
/// before its keeper is removed. Until then, a deletion that was sent and not answered may still
/// take effect.
constexpr int kMaxUntouchedLooks = 30;

/// The parts of `metadata` that belong to the old object and not to the new one.
constexpr std::string_view kOfTheOldObject[] = {
    "uid",           "resourceVersion",   "creationTimestamp", "generation",
    "managedFields", "deletionTimestamp", "selfLink",          "deletionGracePeriodSeconds"};

/// Labels that the server puts on a Job's pods.
constexpr const char* kPodLabels[] = {"controller-uid", "batch.kubernetes.io/controller-uid",
                                      "job-name", "batch.kubernetes.io/job-name"};

/// Whether the error says that no keeper can be made, for example because the Job is too large for
/// an annotation.
bool IsNoKeeper(const Status& status) {
  return status.reason == Reason::kInvalid || status.reason == Reason::kRequestEntityTooLarge;
}

/// The name for dry runs. It is always the same for a Job, so that errors that contain the name are
/// equal, too.
std::string TrialNameOf(const Unstructured& job) {
  return "reloader-trial-" + DigestOf(job.Name()).ToString().substr(0, 10);
}

bool IsOver(const Unstructured& job) {
  if (job.Get({"metadata", "deletionTimestamp"}) != nullptr) {
    return true;
  }
  const JsonTree* conditions = job.Get({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [](const JsonTree& condition) {
           return IsFinalJobCondition(condition.TextAt("type"), condition.TextAt("status"));
         });
}

/// Whether the server has certainly not executed the request.
bool IsRefusedForGood(const Status& status) {
  switch (status.reason) {
    case Reason::kNotFound:  // it may come from a proxy that has lost the answer
      return apimachinery::IsObjectNotFound(status);
    case Reason::kUnauthorized:
    case Reason::kForbidden:
    case Reason::kConflict:
    case Reason::kInvalid:
    case Reason::kBadRequest:
    case Reason::kMethodNotAllowed:
    case Reason::kTooManyRequests:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ErasePodLabels(JsonTree& pod_template) {
  for (const char* label : kPodLabels) {
    pod_template["metadata"]["labels"].Erase(label);
  }
}

Result<Unstructured> RecreatedJob(const Unstructured& job, const WorkloadWrite& write) {
  JsonTree tree = job.tree();
  tree["apiVersion"] = "batch/v1";
  tree["kind"] = "Job";
  tree.Erase("status");
  for (const std::string_view key : kOfTheOldObject) {
    tree["metadata"].Erase(key);
  }
  JsonTree& spec = tree["spec"];
  // With manualSelector the labels and the selector belong to the user, and without them the server
  // refuses the Job.
  if (!job.GetBool({"spec", "manualSelector"}).value_or(false)) {
    spec.Erase("selector");
    ErasePodLabels(spec["template"]);
  }
  EditAnnotations(write.annotations, tree);
  KX_RETURN_IF_ERROR(EditTemplate(write, spec["template"]));
  return Unstructured::FromTree(std::move(tree));
}

std::optional<JobWriter::Kept> JobWriter::FindKept(const ObjectKey& key) const {
  const base::MutexLock lock(mu_);
  const auto found = kept_.find(key);
  return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

void JobWriter::Forget(const ObjectKey& key) {
  std::string keeper;
  {
    const base::MutexLock lock(mu_);
    if (const auto found = kept_.find(key); found != kept_.end()) {
      keeper = std::move(found->second.keeper);
      kept_.erase(found);
    }
  }
  if (!keeper.empty()) {
    if (const auto dropped = DropKeeper({key.namespace_, keeper}); !dropped) {
      logging::Warning("Cannot delete the kept copy of a Job; the operator tries again",
                       {{"job", key.ToString()}, {"keeper", keeper}, {"error", dropped.error()}});
    }
  }
}

Result<void> JobWriter::DropKeeper(const ObjectKey& keeper) const {
  const auto deleted =
      ResourceFor(client_, WorkloadKind::kJob, keeper.namespace_)
          .Delete(keeper.name, {.propagation = kubernetes::Propagation::kBackground},
                  std::stop_token());
  return deleted || apimachinery::IsObjectNotFound(deleted.error()) ? Result<void>() : deleted;
}

Result<std::string> JobWriter::Keep(const KeptJob& job, const std::stop_token& stop) const {
  const auto created =
      ResourceFor(client_, WorkloadKind::kJob, job.body.Namespace())
          .Create(KeeperFor(job), {.field_manager = std::string(kFieldManager)}, stop);
  if (created) {
    return created->Name();
  }
  if (IsNoKeeper(created.error())) {
    logging::Warning("Cannot keep a copy of a Job in the cluster while the Job is recreated",
                     {{"job", job.body.Name()},
                      {"namespace", job.body.Namespace()},
                      {"error", created.error()}});
    return std::string();
  }
  return Fail(created.error().WithContext("keep a copy of the Job until it is recreated"));
}

JobWriter::Claim::Claim(JobWriter& writer, const ObjectKey& key) : writer_(writer), key_(key) {
  const base::MutexLock lock(writer_.mu_);
  is_held_ = writer_.claimed_.insert(key_).second;
}

JobWriter::Claim::~Claim() {
  if (is_held_) {
    const base::MutexLock lock(writer_.mu_);
    writer_.claimed_.erase(key_);
  }
}

Result<WriteOutcome> JobWriter::Write(const ObjectKey& key, const WorkloadWrite& write,
                                      std::stop_token stop) {
  const Claim claim(*this, key);
  if (!claim.is_held()) {
    return Fail(Reason::kConflict, "the Job is being recreated");
  }
  if (const auto kept = FindKept(key)) {
    KX_ASSIGN_OR_RETURN(const Progress progress, Resume(key, *kept, stop));
    if (progress == Progress::kBeingDeleted || progress == Progress::kUntouched) {
      return Fail(Reason::kConflict, "the old Job is still being deleted");
    }
    Forget(key);
    if (progress == Progress::kMade && kept->job.token == write.token) {
      return WriteOutcome{};
    }
    if (progress == Progress::kMade) {
      return Fail(Reason::kConflict, "the Job has just been created again");
    }
  }
  if (!write.Rolls()) {
    WriteOutcome outcome{.rolled = false};
    KX_RETURN_IF_ERROR(RecordAnnotations(client_, {WorkloadKind::kJob, key}, write.annotations,
                                         write.resource_version, Records::kBaseline, fallbacks_,
                                         std::move(stop), outcome));
    return outcome;
  }
  for (int tries = 1;; ++tries) {
    KX_ASSIGN_OR_RETURN(
        const Unstructured job,
        ResourceFor(client_, WorkloadKind::kJob, key.namespace_).Get(key.name, {}, stop));
    if (!write.uid.empty() && job.Uid() != write.uid) {
      return Fail(Reason::kConflict, "the Job was deleted and created again");
    }
    if (IsOver(job)) {
      return WriteOutcome{.rolled = false, .recorded = false};
    }
    // A plan for one Job does not apply to another Job of the same name. Its pods may come and go.
    if (!write.resource_version.empty() && job.ResourceVersion() != write.resource_version &&
        JobContentOf(job) != write.content) {
      return Fail(Reason::kConflict, "the Job has changed since the rollout was planned");
    }
    auto replaced = Replace(key, job, write, stop);
    if (replaced || tries >= kMaxJobTries || replaced.error().reason != Reason::kConflict ||
        FindKept(key)) {
      return replaced;
    }
  }
}

Result<WriteOutcome> JobWriter::Replace(const ObjectKey& key, const Unstructured& job,
                                        const WorkloadWrite& write, const std::stop_token& stop) {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, key.namespace_);
  KX_ASSIGN_OR_RETURN(Unstructured body, RecreatedJob(job, write));
  // Quota, admission and validation are checked before the Job is deleted. Its name is still taken,
  // so the dry run uses another name.
  Unstructured trial = body;
  trial.SetName(TrialNameOf(job));
  if (const auto tried =
          jobs.Create(trial, {.field_manager = std::string(kFieldManager), .dry_run = true}, stop);
      !tried) {
    return Fail(tried.error().WithContext("try to create the new Job beside the old one"));
  }
  Kept kept{.job = {.old_uid = job.Uid(),
                    .old_version = job.ResourceVersion(),
                    .token = write.token,
                    .body = std::move(body)}};
  {
    const base::MutexLock lock(mu_);
    // This is set before the keeper exists, because otherwise Recover would regard the keeper as a
    // dead process's.
    kept_[key] = kept;
  }
  auto keeper = Keep(kept.job, stop);
  if (!keeper) {
    Forget(key);
    return Fail(keeper.error());
  }
  kept.keeper = *std::move(keeper);
  {
    const base::MutexLock lock(mu_);
    kept_[key] = kept;
  }
  if (auto deleted = Delete(kept.job, stop); !deleted) {
    if (IsRefusedForGood(deleted.error())) {
      Forget(key);
    }
    return Fail(deleted.error());
  }
  KX_RETURN_IF_ERROR(Create(key, kept));
  return WriteOutcome{};
}

Result<void> JobWriter::Delete(const KeptJob& job, const std::stop_token& stop) const {
  JsonTree options = JsonTree::Object();
  options["apiVersion"] = "v1";
  options["kind"] = "DeleteOptions";
  options["propagationPolicy"] = "Background";
  // Only the version that was copied is deleted, because a change in between would be lost.
  options["preconditions"]["uid"] = job.old_uid;
  if (!job.old_version.empty()) {
    options["preconditions"]["resourceVersion"] = job.old_version;
  }
  // The request is sent only once. If the answer to a first request were lost, a second one would
  // find the Job gone, as if somebody else had deleted it for good.
  rest::Request request = client_->Delete();
  request.AbsPath("/apis/batch/v1/namespaces/" + job.body.Namespace() + "/jobs/" + job.body.Name())
      .Body(codec::Encoding::kJson, options.ToJson())
      .MaxRetries(0);
  KX_RETURN_IF_ERROR(request.Do(stop));
  return {};
}

Result<void> JobWriter::Create(const ObjectKey& key, const Kept& kept) {
  KX_RETURN_IF_ERROR(CreateKept(key, kept.job));
  Forget(key);
  return {};
}

Result<void> JobWriter::CreateKept(const ObjectKey& key, const KeptJob& job) const {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, key.namespace_);
  // A stop does not end this request, because the old Job is gone. The client's timeout ends it.
  const auto created =
      jobs.Create(job.body, {.field_manager = std::string(kFieldManager)}, std::stop_token());
  if (!created) {
    return Fail(created.error().WithContext("create the Job again"));
  }
  return {};
}

Result<void> JobWriter::Finish(const ObjectKey& key, std::stop_token stop) {
  const Claim claim(*this, key);
  if (!claim.is_held()) {
    return Fail(Reason::kConflict, "the Job is being recreated");
  }
  {
    const base::MutexLock lock(mu_);
    looks_.erase(key);  // it may be a keeper
  }
  const auto kept = FindKept(key);
  if (!kept) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const Progress progress, GoOn(kept->job, stop));
  if (progress == Progress::kBeingDeleted || progress == Progress::kUntouched) {
    return Fail(Reason::kConflict, "the old Job is still being deleted");
  }
  Forget(key);
  return {};
}

Result<JobWriter::Progress> JobWriter::Resume(const ObjectKey& key, const Kept& kept,
                                              const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const Progress progress, GoOn(kept.job, stop));
  if (progress != Progress::kUntouched) {
    return progress;
  }
  {
    const base::MutexLock lock(mu_);
    looks_.erase({key.namespace_, kept.keeper});  // this one may take effect late, too
  }
  const auto deleted = Delete(kept.job, stop);
  // These errors say that the first request was executed meanwhile, or that the Job has changed.
  if (!deleted && deleted.error().reason != Reason::kConflict &&
      !apimachinery::IsObjectNotFound(deleted.error())) {
    logging::Debug("Cannot delete a Job yet; its copy is kept", {{"job", key.ToString()}});
    return Fail(deleted.error());
  }
  return GoOn(kept.job, stop);
}

Result<JobWriter::Progress> JobWriter::GoOn(const KeptJob& kept, const std::stop_token& stop) {
  const ObjectKey key{kept.body.Namespace(), kept.body.Name()};
  const auto job = ResourceFor(client_, WorkloadKind::kJob, key.namespace_).Get(key.name, {}, stop);
  if (!job && apimachinery::IsObjectNotFound(job.error())) {
    KX_RETURN_IF_ERROR(CreateKept(key, kept));
    return Progress::kMade;
  }
  if (!job) {
    return Fail(job.error());
  }
  if (job->Uid() != kept.old_uid) {
    return Progress::kMade;  // the new Job exists nevertheless
  }
  if (job->Get({"metadata", "deletionTimestamp"}) != nullptr) {
    return Progress::kBeingDeleted;
  }
  return kept.old_version.empty() || job->ResourceVersion() == kept.old_version
             ? Progress::kUntouched
             : Progress::kChanged;
}

Result<bool> JobWriter::Recover(const ObjectKey& keeper, std::stop_token stop) {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, keeper.namespace_);
  auto object = jobs.Get(keeper.name, {}, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error()) ? Result<bool>(true)
                                                          : Fail(object.error());
  }
  auto kept = KeptBy(*object);
  if (!kept) {
    return Fail(kept.error());
  }
  const ObjectKey key{keeper.namespace_, kept->body.Name()};
  const Claim claim(*this, key);
  const auto own = FindKept(key);
  if (!claim.is_held() || (own && own->keeper != keeper.name)) {
    return false;  // this process is working on it
  }
  // The keeper is read again, because its holder may have given the Job up when somebody deleted
  // the Job, and may have removed the keeper.
  object = jobs.Get(keeper.name, {}, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error()) ? Result<bool>(true)
                                                          : Fail(object.error());
  }
  kept = KeptBy(*object);
  if (!kept) {
    return Fail(kept.error());
  }
  KX_ASSIGN_OR_RETURN(const Progress progress, GoOn(*kept, stop));
  if (progress == Progress::kBeingDeleted ||
      (progress == Progress::kUntouched && MayVanish(keeper))) {
    return false;
  }
  // A Job that was never deleted is planned anew from its annotations.
  KX_RETURN_IF_ERROR(DropKeeper(keeper));
  const base::MutexLock lock(mu_);
  looks_.erase(keeper);
  kept_.erase(key);
  return true;
}

bool JobWriter::MayVanish(const ObjectKey& keeper) {
  const base::MutexLock lock(mu_);
  return ++looks_[keeper] < kMaxUntouchedLooks;
}

}  // namespace kubexx::reloader
