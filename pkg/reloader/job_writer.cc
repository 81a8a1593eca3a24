#include <algorithm>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/kind_writers.h"
#include "kubexx/reloader/patch.h"
#include "kubexx/reloader/template_edit.h"
#include "kubexx/reloader/workload_decode.h"
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

constexpr int kMaxTries = 5;

/// Of `metadata`: what belongs to the object that was, not to the one that will be.
constexpr std::string_view kOfTheOldObject[] = {
    "uid",           "resourceVersion",   "creationTimestamp", "generation",
    "managedFields", "deletionTimestamp", "selfLink",          "deletionGracePeriodSeconds"};

/// Labels that the server gives to a Job's pods.
constexpr const char* kPodLabels[] = {"controller-uid", "batch.kubernetes.io/controller-uid",
                                      "job-name", "batch.kubernetes.io/job-name"};

/// Of what was begun: too large for an annotation, for example.
bool IsNoKeeper(const Status& status) {
  return status.reason == Reason::kInvalid || status.reason == Reason::kRequestEntityTooLarge;
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

/// Whether the server has certainly not done what it was asked for.
bool IsRefusal(const Status& status) {
  switch (status.reason) {
    case Reason::kUnauthorized:
    case Reason::kForbidden:
    case Reason::kNotFound:
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
  // With manualSelector the labels and the selector are the user's, and without them the server
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
      logging::Warning("The keeper of a Job stays for now; it is looked at again",
                       {{"job", key.ToString()}, {"keeper", keeper}, {"error", dropped.error()}});
    }
  }
}

Result<void> JobWriter::DropKeeper(const ObjectKey& keeper) const {
  const auto deleted =
      ResourceFor(client_, WorkloadKind::kJob, keeper.namespace_)
          .Delete(keeper.name, {.propagation = kubernetes::Propagation::kBackground},
                  std::stop_token());
  return deleted || deleted.error().reason == Reason::kNotFound ? Result<void>() : deleted;
}

Result<std::string> JobWriter::Keep(const KeptJob& job, const std::stop_token& stop) const {
  const auto created =
      ResourceFor(client_, WorkloadKind::kJob, job.body.Namespace())
          .Create(KeeperFor(job), {.field_manager = std::string(kFieldManager)}, stop);
  if (created) {
    return created->Name();
  }
  if (IsNoKeeper(created.status())) {
    logging::Warning("A Job cannot be kept in the cluster while it is made anew",
                     {{"job", job.body.Name()},
                      {"namespace", job.body.Namespace()},
                      {"error", created.status()}});
    return std::string();
  }
  return Fail(created.status().WithContext("keep the Job until it is made anew"));
}

Result<WriteOutcome> JobWriter::Write(const ObjectKey& key, const WorkloadWrite& write,
                                      std::stop_token stop) {
  if (const auto kept = FindKept(key)) {
    KX_RETURN_IF_ERROR(Finish(key, stop));
    if (kept->job.token == write.token) {
      return WriteOutcome{};
    }
    return Fail(Reason::kConflict, "the Job has just been created again");
  }
  if (!write.Rolls()) {
    WriteOutcome outcome{.rolled = false};
    KX_ASSIGN_OR_RETURN(outcome.recorded,
                        RecordAnnotations(client_, {WorkloadKind::kJob, key}, write.annotations,
                                          fallbacks_, std::move(stop)));
    return outcome;
  }
  for (int tries = 1;; ++tries) {
    auto replaced = Replace(key, write, stop);
    if (replaced || tries >= kMaxTries || replaced.error().reason != Reason::kConflict ||
        FindKept(key)) {
      return replaced;
    }
  }
}

Result<WriteOutcome> JobWriter::Replace(const ObjectKey& key, const WorkloadWrite& write,
                                        const std::stop_token& stop) {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, key.namespace_);
  KX_ASSIGN_OR_RETURN(const Unstructured job, jobs.Get(key.name, {}, stop));
  if (!write.uid.empty() && job.Uid() != write.uid) {
    return Fail(Reason::kConflict, "the Job was deleted and created again");
  }
  if (IsOver(job)) {
    return WriteOutcome{.rolled = false, .recorded = false};
  }
  KX_ASSIGN_OR_RETURN(Unstructured body, RecreatedJob(job, write));
  // Quota, admission and validation have their say before anything is deleted. The name is taken
  // yet, so it is tried under another.
  Unstructured trial = body;
  trial.Remove({"metadata", "name"});
  KX_RETURN_IF_ERROR(trial.Set({"metadata", "generateName"}, JsonTree("reloader-trial-")));
  KX_RETURN_IF_ERROR(
      jobs.Create(trial, {.field_manager = std::string(kFieldManager), .dry_run = true}, stop));
  Kept kept{.job = {.old_uid = job.Uid(), .token = write.token, .body = std::move(body)}};
  {
    const base::MutexLock lock(mu_);
    kept_[key] = kept;  // before the keeper is there, or Recover would take it for a dead one's
  }
  auto keeper = Keep(kept.job, stop);
  if (!keeper) {
    Forget(key);
    return Fail(keeper.status());
  }
  kept.keeper = *std::move(keeper);
  {
    const base::MutexLock lock(mu_);
    kept_[key] = kept;
  }
  KX_RETURN_IF_ERROR(Delete(key, job, stop));
  KX_RETURN_IF_ERROR(Create(key, kept));
  return WriteOutcome{};
}

Result<void> JobWriter::Delete(const ObjectKey& key, const Unstructured& job,
                               const std::stop_token& stop) {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, key.namespace_);
  // The very version that was copied: a change in between would be lost.
  const kubernetes::DeleteOptions options{.propagation = kubernetes::Propagation::kBackground,
                                          .uid = job.Uid(),
                                          .resource_version = job.ResourceVersion()};
  auto deleted = jobs.Delete(key.name, options, stop);
  if (!deleted && IsRefusal(deleted.error())) {
    Forget(key);
  }
  return deleted;
}

Result<void> JobWriter::Create(const ObjectKey& key, const Kept& kept) {
  KX_RETURN_IF_ERROR(CreateKept(key, kept.job));
  Forget(key);
  return {};
}

Result<void> JobWriter::CreateKept(const ObjectKey& key, const KeptJob& job) const {
  const dynamic::DynamicResource jobs = ResourceFor(client_, WorkloadKind::kJob, key.namespace_);
  // Not to be stopped: the old Job is gone. The client's timeout ends it.
  const auto created =
      jobs.Create(job.body, {.field_manager = std::string(kFieldManager)}, std::stop_token());
  if (!created) {
    return Fail(created.status().WithContext("create the Job again"));
  }
  return {};
}

Result<void> JobWriter::Finish(const ObjectKey& key, std::stop_token stop) {
  const auto kept = FindKept(key);
  if (!kept) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const bool done, GoOn(kept->job, stop));
  if (!done) {
    return Fail(Reason::kConflict, "the old Job is still being deleted");
  }
  Forget(key);
  return {};
}

Result<bool> JobWriter::GoOn(const KeptJob& kept, const std::stop_token& stop) {
  const ObjectKey key{kept.body.Namespace(), kept.body.Name()};
  const auto job = ResourceFor(client_, WorkloadKind::kJob, key.namespace_).Get(key.name, {}, stop);
  if (!job && job.status().reason == Reason::kNotFound) {
    KX_RETURN_IF_ERROR(CreateKept(key, kept));
    return true;
  }
  if (!job) {
    return Fail(job.status());
  }
  // Otherwise it was created after all, or never deleted.
  return job->Uid() != kept.old_uid || job->Get({"metadata", "deletionTimestamp"}) == nullptr;
}

Result<bool> JobWriter::Recover(const ObjectKey& keeper, std::stop_token stop) {
  const auto object =
      ResourceFor(client_, WorkloadKind::kJob, keeper.namespace_).Get(keeper.name, {}, stop);
  if (!object) {
    return object.status().reason == Reason::kNotFound ? Result<bool>(true) : Fail(object.status());
  }
  const auto kept = KeptBy(*object);
  if (!kept) {
    return Fail(kept.status());
  }
  if (FindKept({keeper.namespace_, kept->body.Name()})) {
    return false;  // this process is at it
  }
  KX_ASSIGN_OR_RETURN(const bool done, GoOn(*kept, stop));
  if (done) {
    KX_RETURN_IF_ERROR(DropKeeper(keeper));
  }
  return done;
}

}  // namespace kubexx::reloader
