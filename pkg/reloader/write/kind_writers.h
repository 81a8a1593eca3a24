/// @file
/// Writers of the kinds that a patch of their own template does not roll, or that the server cannot
/// merge. Parts of NewWriter.
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
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/write/job_keeper.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Objects of one kind in one namespace, as JSON.
dynamic::DynamicResource ResourceFor(const std::shared_ptr<rest::RESTClient>& client,
                                     WorkloadKind kind, std::string namespace_);

/// What a patch has done that the server answered with this metadata.generation: nothing below spec
/// when it is that of the object that the write was made for.
WriteOutcome PatchOutcome(const WorkloadWrite& write, std::int64_t generation);

/// The same of an answer that has the pod template: whether that is as the write asked for. Needed
/// of Deployments, whose generation counts annotations, too.
WriteOutcome PatchOutcome(const WorkloadWrite& write, const dynamic::Unstructured& answer);

/// Writes annotations of the object alone, by a merge patch. That they are refused is no failure
/// but an outcome: nothing rolls by them. Fallbacks is told when it is for want of a right.
/// kConflict when the object has another resource version than `version`; empty: any will do.
apimachinery::Result<void> RecordAnnotations(const std::shared_ptr<rest::RESTClient>& client,
                                             const WorkloadId& workload,
                                             const AnnotationEdits& annotations,
                                             const std::string& version, Fallbacks& fallbacks,
                                             std::stop_token stop, WriteOutcome& outcome);

/// Whether a change is to make a Job of the CronJob: see IsToRun of what it says.
bool IsToRun(const dynamic::Unstructured& cron_job);

/// CronJobs: a rollout is a Job made now from the jobTemplate, with the edits in it; the CronJob
/// gets the annotations only. One change makes one Job: the Job names the change, and is looked for
/// before another is made. A CronJob that is not to run (see IsToRun) only gets the annotations.
/// Thread-safe.
class CronJobWriter {
 public:
  /// `fallbacks` and `clock` must outlive this.
  CronJobWriter(std::shared_ptr<rest::RESTClient> client, Fallbacks& fallbacks, base::Clock& clock)
      : client_(std::move(client)), fallbacks_(fallbacks), clock_(clock) {}
  apimachinery::Result<WriteOutcome> Write(const apimachinery::ObjectKey& key,
                                           const WorkloadWrite& write, std::stop_token stop);

 private:
  /// What the Jobs of a CronJob say about a change.
  struct MadeJobs {
    std::string job{};  ///< the one that it has been given; empty when there is none
    /// For the one that it is to be given, of which every process makes the same; empty when Jobs
    /// may not be listed.
    std::string name{};
  };
  /// A token that is not unique counts on the newest Job only.
  apimachinery::Result<MadeJobs> JobsFor(const dynamic::Unstructured& cron_job,
                                         const std::string& token, bool is_unique,
                                         const std::stop_token& stop) const;
  /// The new Job's name. An empty `name` has the server make one.
  apimachinery::Result<std::string> CreateJob(const dynamic::Unstructured& cron_job,
                                              const WorkloadWrite& write, const std::string& name,
                                              const std::stop_token& stop) const;
  /// Whether the Job of that name is there and was made for the change `token` of the CronJob;
  /// nothing when it may not be read.
  apimachinery::Result<std::optional<bool>> IsMadeFor(const dynamic::Unstructured& cron_job,
                                                      const std::string& name,
                                                      const std::string& token,
                                                      const std::stop_token& stop) const;
  /// The Job that the change has or is given.
  apimachinery::Result<std::string> JobFor(const dynamic::Unstructured& cron_job,
                                           const WorkloadWrite& write, bool is_unique,
                                           const std::stop_token& stop) const;

  /// Writes what the CronJob was rolled for, unless another operator has written something else
  /// since it said `before`.
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

/// Jobs: a rollout deletes the Job and creates it again under its name. A Job is not deleted before
/// the server has agreed, in a dry run, to create the new one; and the new one is kept until it has
/// been created, in a keeper (see KeeperFor) that outlives the process. A Job that has finished is
/// left alone. Thread-safe.
class JobWriter {
 public:
  /// `fallbacks` must outlive this.
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
    std::string keeper{};  ///< its name; empty when the server would not have it
  };
  /// The right to make a Job anew, which one thread has at a time. Held until it is destroyed.
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
  /// How far a Job has come that is made anew.
  enum class Progress : std::uint8_t {
    kMade,          ///< there is a new one
    kBeingDeleted,  ///< the old one is there yet
    kUntouched,     ///< so it is, and the deletion was refused, or is yet to take effect
    kChanged,       ///< so it is, and has changed: its deletion can take effect no more
  };

  apimachinery::Result<WriteOutcome> Replace(const apimachinery::ObjectKey& key,
                                             const WorkloadWrite& write,
                                             const std::stop_token& stop);
  apimachinery::Result<void> Delete(const KeptJob& job, const std::stop_token& stop) const;
  /// The name of the new keeper.
  apimachinery::Result<std::string> Keep(const KeptJob& job, const std::stop_token& stop) const;
  apimachinery::Result<void> Create(const apimachinery::ObjectKey& key, const Kept& kept);
  apimachinery::Result<void> CreateKept(const apimachinery::ObjectKey& key,
                                        const KeptJob& job) const;
  /// Looks how far the Job has come, and creates it when there is none.
  apimachinery::Result<Progress> GoOn(const KeptJob& job, const std::stop_token& stop);
  /// As GoOn; deletes the old Job once more when that has not been done.
  apimachinery::Result<Progress> Resume(const apimachinery::ObjectKey& key, const Kept& kept,
                                        const std::stop_token& stop);
  apimachinery::Result<void> DropKeeper(const apimachinery::ObjectKey& keeper) const;
  std::optional<Kept> FindKept(const apimachinery::ObjectKey& key) const;
  void Forget(const apimachinery::ObjectKey& key);
  /// Whether the Job of the keeper, which is there yet, may still be deleted; counts the looks.
  bool MayVanish(const apimachinery::ObjectKey& keeper);

  const std::shared_ptr<rest::RESTClient> client_;
  Fallbacks& fallbacks_;
  mutable base::Mutex mu_;
  std::map<apimachinery::ObjectKey, Kept> kept_ KX_GUARDED_BY(mu_);
  std::set<apimachinery::ObjectKey> claimed_ KX_GUARDED_BY(mu_);
  /// How often the Job of a keeper was found untouched; by keeper.
  std::map<apimachinery::ObjectKey, int> looks_ KX_GUARDED_BY(mu_);
};

/// The Job that is created in place of `job`: the same, with the edits of `write`, and without what
/// the server gives to each Job itself. kConflict as EditTemplate.
apimachinery::Result<dynamic::Unstructured> RecreatedJob(const dynamic::Unstructured& job,
                                                         const WorkloadWrite& write);

/// Takes away from a Job's template the labels that the server gives to its pods.
void ErasePodLabels(codec::JsonTree& pod_template);

/// The Job that rolls `cron_job` at `now`. kConflict as EditTemplate.
apimachinery::Result<dynamic::Unstructured> InstantiatedJob(const dynamic::Unstructured& cron_job,
                                                            const WorkloadWrite& write,
                                                            base::WallTime now);

/// Rollouts and DeploymentConfigs: merge patches, since the server knows no strategic ones for
/// them. A patch replaces the list of containers, so it names the version that the list was read
/// at. Thread-safe.
class CustomWriter {
 public:
  /// `fallbacks` must outlive this.
  CustomWriter(std::shared_ptr<rest::RESTClient> client, Fallbacks& fallbacks)
      : client_(std::move(client)), fallbacks_(fallbacks) {}
  apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                                           std::stop_token stop);

 private:
  apimachinery::Result<WriteOutcome> PatchOwn(const WorkloadId& workload, WorkloadWrite write,
                                              const std::stop_token& stop) const;

  const std::shared_ptr<rest::RESTClient> client_;
  Fallbacks& fallbacks_;
};

/// The merge patch that makes `write` on `object`, which needs to be the present one only when
/// there are variables. kConflict as EditTemplate.
apimachinery::Result<codec::JsonTree> MergePatch(const WorkloadWrite& write,
                                                 const dynamic::Unstructured& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_KIND_WRITERS_H_
