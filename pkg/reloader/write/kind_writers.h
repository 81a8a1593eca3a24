/// @file
/// Writers for kinds that are not rolled by a patch of their own template, or that the API server
/// cannot merge. NewWriter combines them.
#ifndef KUBEXX_RELOADER_WRITE_KIND_WRITERS_H_
#define KUBEXX_RELOADER_WRITE_KIND_WRITERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/write/job_keeper.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Access to the objects of one kind in one namespace as JSON.
dynamic::DynamicResource ResourceFor(const std::shared_ptr<rest::RESTClient>& client,
                                     WorkloadKind kind, std::string namespace_);

/// The outcome of a patch to which the server answered with this metadata.generation. If it equals
/// the generation of the object that the write was made for, the patch changed nothing below spec.
WriteOutcome PatchOutcome(const WorkloadWrite& write, std::int64_t generation);

/// The outcome of a patch to which the server answered with the whole object: new pods start if its
/// pod template is as the write asked for. Needed for Deployments, whose generation also changes
/// with annotations.
WriteOutcome PatchOutcome(const WorkloadWrite& write, const dynamic::Unstructured& answer);

/// What annotations tell of.
enum class Records : std::uint8_t {
  kBaseline,  ///< nothing that was done, so there may be thousands of such writes at a time
  kRollout,   ///< a rollout that was made, of which the next process should know
  kJob,       ///< likewise, by a Job: the write's time is that of the rollout
};

/// Writes annotations of the object only, by a merge patch of kRecordsManager, or of kFieldManager
/// for Records::kJob. A refusal is not an error but stored in
/// `outcome`, since these annotations roll nothing; `fallbacks` is informed if a right is missing.
/// A right that was refused a moment ago is tried again for a rollout only. Fails with kConflict
/// when the object has another resource version than `version`; empty: any version.
apimachinery::Result<void> RecordAnnotations(const std::shared_ptr<rest::RESTClient>& client,
                                             const WorkloadId& workload,
                                             const AnnotationEdits& annotations,
                                             const std::string& version, Records records,
                                             Fallbacks& fallbacks, std::stop_token stop,
                                             WriteOutcome& outcome);

/// Whether a change must start a Job of the CronJob; see IsToRun.
bool IsToRun(const dynamic::Unstructured& cron_job);

/// Writes CronJobs. A rollout creates a Job immediately from the jobTemplate with the edits
/// applied; the CronJob itself only gets the annotations. One change creates one Job: the Job names
/// the change, and the writer looks for such a Job before it creates one. A CronJob that must not
/// run (see IsToRun) only gets the annotations. Thread-safe.
class CronJobWriter {
 public:
  /// `fallbacks` and `clock` must outlive this object.
  CronJobWriter(std::shared_ptr<rest::RESTClient> client, Fallbacks& fallbacks, base::Clock& clock)
      : client_(std::move(client)), fallbacks_(fallbacks), clock_(clock) {}
  apimachinery::Result<WriteOutcome> Write(const apimachinery::ObjectKey& key,
                                           const WorkloadWrite& write, std::stop_token stop);

 private:
  /// What the Jobs of a CronJob say about a change.
  struct MadeJobs {
    std::string job{};  ///< the Job that was created for the change; empty when there is none
    /// The name for the Job to create, which every process computes alike; empty when the operator
    /// may not list Jobs.
    std::string name{};
  };
  /// Looks for the Job of the change `token`. If the token is not unique, only the newest Job
  /// counts.
  apimachinery::Result<MadeJobs> JobsFor(const dynamic::Unstructured& cron_job,
                                         const std::string& token, bool is_unique,
                                         const std::stop_token& stop) const;
  /// The Job of a change.
  struct JobOfChange {
    std::string name{};
    /// The resource version at which it was created; 0: not known, as it was there already.
    std::uint64_t version = 0;
  };
  /// Creates the Job. If `name` is empty, the server chooses the name.
  apimachinery::Result<JobOfChange> CreateJob(const dynamic::Unstructured& cron_job,
                                              const WorkloadWrite& write, const std::string& name,
                                              const std::stop_token& stop) const;
  /// Whether the Job of this name exists and was created for the change `token` of the CronJob;
  /// std::nullopt when it may not be read.
  apimachinery::Result<std::optional<bool>> IsMadeFor(const dynamic::Unstructured& cron_job,
                                                      const std::string& name,
                                                      const std::string& token,
                                                      const std::stop_token& stop) const;
  /// Returns the Job of the change, and creates it if necessary.
  apimachinery::Result<JobOfChange> JobFor(const dynamic::Unstructured& cron_job,
                                           const WorkloadWrite& write, bool is_unique,
                                           const std::stop_token& stop) const;

  /// Records on the CronJob what it was rolled for, unless another operator has recorded something
  /// other than `before` since then.
  apimachinery::Result<void> RecordRollout(const dynamic::Unstructured& cron_job,
                                           const AnnotationEdits& annotations,
                                           const std::string& before, const std::stop_token& stop,
                                           WriteOutcome& outcome) const;
  apimachinery::Result<WriteOutcome> Roll(const apimachinery::ObjectKey& key,
                                          const WorkloadWrite& write, const std::stop_token& stop);

  const std::shared_ptr<rest::RESTClient> client_;
  Fallbacks& fallbacks_;
  base::Clock& clock_;
};

/// Writes Jobs. A rollout deletes the Job and creates it again under its name. It deletes the Job
/// only after the server has accepted the new one in a dry run. Until the new Job has been created,
/// a keeper in the cluster preserves it (see KeeperFor), in case the process ends. A Job that has
/// finished is not rolled. Thread-safe.
class JobWriter {
 public:
  /// `fallbacks` must outlive this object.
  JobWriter(std::shared_ptr<rest::RESTClient> client, Fallbacks& fallbacks)
      : client_(std::move(client)), fallbacks_(fallbacks) {}
  apimachinery::Result<WriteOutcome> Write(const apimachinery::ObjectKey& key,
                                           const WorkloadWrite& write, std::stop_token stop);
  /// See WorkloadWriter.
  apimachinery::Result<void> Finish(const apimachinery::ObjectKey& key, std::stop_token stop);
  apimachinery::Result<bool> Recover(const apimachinery::ObjectKey& keeper, std::stop_token stop);

 private:
  struct Kept {
    KeptJob job{};
    std::string keeper{};  ///< the keeper's name; empty when the server refused to create it
  };
  /// The exclusive right to recreate a Job. One thread has it at a time, until the object is
  /// destroyed.
  class Claim {
   public:
    Claim(JobWriter& writer, const apimachinery::ObjectKey& key);
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();
    bool is_held() const { return is_held_; }

   private:
    JobWriter& writer_;
    const apimachinery::ObjectKey key_;
    bool is_held_;
  };
  /// How far the recreation of a Job is.
  enum class Progress : std::uint8_t {
    kMade,          ///< the new Job exists
    kBeingDeleted,  ///< the old Job still exists and is being deleted
    kUntouched,     ///< the old Job exists; its deletion was refused or has not taken effect yet
    /// The old Job exists and has changed, so that its deletion can no longer take effect.
    kChanged,
  };

  /// Replaces `job`, in the version that it is given in.
  apimachinery::Result<WriteOutcome> Replace(const apimachinery::ObjectKey& key,
                                             const dynamic::Unstructured& job,
                                             const WorkloadWrite& write,
                                             const std::stop_token& stop);
  apimachinery::Result<void> Delete(const KeptJob& job, const std::stop_token& stop) const;
  /// Creates a keeper and returns its name.
  apimachinery::Result<std::string> Keep(const KeptJob& job, const std::stop_token& stop) const;
  apimachinery::Result<void> Create(const apimachinery::ObjectKey& key, const Kept& kept);
  apimachinery::Result<void> CreateKept(const apimachinery::ObjectKey& key,
                                        const KeptJob& job) const;
  /// Determines how far the recreation is, and creates the Job when there is none.
  apimachinery::Result<Progress> GoOn(const KeptJob& job, const std::stop_token& stop);
  /// Does the same as GoOn, and deletes the old Job again when its deletion has not taken effect.
  apimachinery::Result<Progress> Resume(const apimachinery::ObjectKey& key, const Kept& kept,
                                        const std::stop_token& stop);
  apimachinery::Result<void> DropKeeper(const apimachinery::ObjectKey& keeper) const;
  std::optional<Kept> FindKept(const apimachinery::ObjectKey& key) const;
  void Forget(const apimachinery::ObjectKey& key);
  /// Whether the keeper's old Job, which still exists, may yet be deleted. Counts the calls.
  bool MayVanish(const apimachinery::ObjectKey& keeper);

  const std::shared_ptr<rest::RESTClient> client_;
  Fallbacks& fallbacks_;
  mutable base::Mutex mu_;
  std::map<apimachinery::ObjectKey, Kept> kept_ KX_GUARDED_BY(mu_);
  std::set<apimachinery::ObjectKey> claimed_ KX_GUARDED_BY(mu_);
  /// How often the old Job of a keeper was found untouched, by the keeper's key.
  std::map<apimachinery::ObjectKey, int> looks_ KX_GUARDED_BY(mu_);
};

/// The Job that replaces `job`: it has the edits of `write`, and lacks the fields that the server
/// sets for each Job. Fails with kConflict as EditTemplate does.
apimachinery::Result<dynamic::Unstructured> RecreatedJob(const dynamic::Unstructured& job,
                                                         const WorkloadWrite& write);

/// Removes from a Job's template the labels that the server sets for its pods.
void ErasePodLabels(codec::JsonTree& pod_template);

/// The Job that rolls `cron_job` at `now`. Fails with kConflict as EditTemplate does.
apimachinery::Result<dynamic::Unstructured> InstantiatedJob(const dynamic::Unstructured& cron_job,
                                                            const WorkloadWrite& write,
                                                            base::WallTime now);

/// Writes Rollouts, DeploymentConfigs and custom kinds by merge patches, because the server has no
/// strategic merge patches for them. Such a patch replaces the whole list of containers, so it
/// names the resource version at which the list was read. Thread-safe.
class CustomWriter {
 public:
  /// `fallbacks` must outlive this object.
  CustomWriter(std::shared_ptr<rest::RESTClient> client, Fallbacks& fallbacks)
      : client_(std::move(client)), fallbacks_(fallbacks) {}
  apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                                           std::stop_token stop);

 private:
  /// Tries PatchOwn once, and returns the object.
  apimachinery::Result<dynamic::Unstructured> PatchOnce(const WorkloadId& workload,
                                                        WorkloadWrite write,
                                                        const std::stop_token& stop) const;
  /// Patches the object, again after conflicts.
  apimachinery::Result<WriteOutcome> PatchOwn(const WorkloadId& workload, WorkloadWrite write,
                                              const std::stop_token& stop) const;
  /// Fails unless the server would keep the annotations of the pod template that the patch sets.
  apimachinery::Result<void> CheckKept(const WorkloadId& workload, const WorkloadWrite& write,
                                       const codec::JsonTree& patch,
                                       const std::stop_token& stop) const;

  const std::shared_ptr<rest::RESTClient> client_;
  Fallbacks& fallbacks_;
};

/// The merge patch that applies `write` to `object`. `object` must be up to date only if the write
/// has variables. `custom` tells where the pod template is; null: at spec.template. Fails with
/// kConflict as EditTemplate does.
apimachinery::Result<codec::JsonTree> MergePatch(const WorkloadWrite& write,
                                                 const dynamic::Unstructured& object,
                                                 const CustomKind* custom = nullptr);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_KIND_WRITERS_H_
