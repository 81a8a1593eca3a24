/// @file
/// Who changes things in the simulated cluster.
#ifndef KUBEXX_TEST_SIMULATION_PEOPLE_H_
#define KUBEXX_TEST_SIMULATION_PEOPLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/rest/rest_client.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "timeline.h"
#include "without.h"

namespace kubexx::simulation {

/// Stands in every Secret's data, as it is and in base64: nobody else may ever send or tell it.
inline constexpr const char* kSecretMark = "TOPSECRET";
inline constexpr const char* kSecretMarkInBase64 = "VE9QU0VDUkVU";

/// The kinds of workloads that there are, as paths and keys of the storage name them.
inline constexpr std::array<std::string_view, 6> kWorkloadPlurals = {
    "deployments", "statefulsets", "daemonsets", "cronjobs", "jobs", "rollouts"};
// Indexes of them.
inline constexpr std::size_t kDeployment = 0;
inline constexpr std::size_t kStatefulSet = 1;
inline constexpr std::size_t kDaemonSet = 2;
inline constexpr std::size_t kCronJob = 3;
inline constexpr std::size_t kJob = 4;
inline constexpr std::size_t kRollout = 5;

/// Of the kind that is described to operators, as paths name it.
inline constexpr const char* kObjectGroup = "/apis/ci.example.com/v1/";

/// The SecretProviderClass of each namespace.
inline constexpr const char* kProviderClass = "class";

/// Who operators are for the API server.
inline constexpr const char* kOperatorUser = "operator";
/// The namespace that they are in.
inline constexpr const char* kOperatorSpace = "operators";

/// Where operators have which rights.
enum class Rights : std::uint8_t {
  kEverywhere,     ///< all, by one binding
  kWritesBySpace,  ///< they read everywhere, and have all others by a binding in each namespace
  kBySpace,        ///< but for policies they have all by a binding in each namespace
};

/// Types that a cluster may have.
enum class OptionalApi : std::uint8_t {
  kArgo,       ///< Argo's Rollouts
  kCsi,        ///< the Secrets Store CSI driver's SecretProviderClasses, and their pods' statuses
  kPolicies,   ///< the operator's own
  kOpenShift,  ///< OpenShift's DeploymentConfigs, of which there are none, and which always stay
  kObjects,    ///< the kind that is described to operators, which always stays
};
inline constexpr std::size_t kOptionalApis = 5;

/// What people do.
enum class Act : std::uint8_t {
  kEdit,             ///< give a source other data
  kTakeBack,         ///< give it the data from before
  kTouch,            ///< edit its labels
  kPause,            ///< pause a source, or end that
  kEditMany,         ///< edit several sources at once
  kRelease,          ///< change a workload's pod template
  kReleaseWithData,  ///< change a source and the pod template of a workload that uses it
  kDeleteSource,
  kDeleteWorkload,
  kReplace,   ///< delete a workload and make it anew at once, with annotations of before, or a copy
  kMakeAnew,  ///< make what was deleted
  kUndo,      ///< bring back a workload's last pod template, as `kubectl rollout undo` does
  kOptOut,    ///< want no rollouts of a workload just when one is to be made; or want them
  kStrip,     ///< take the baseline away
  kHold,      ///< pause a Deployment that an operator may have paused, or resume it
  kPolicy,    ///< install a ReloadPolicy in a namespace, or take it away
  kOptional,  ///< take an API of optional types away, with all objects, or install it again
  kRotate,    ///< give what a SecretProviderClass names another version
  kEndJob,    ///< the pods of a Job have done what they are for
  kRestart,   ///< make the pods of a workload anew, as `kubectl rollout restart` does
  kReleaseTwice,  ///< change a workload's pod template twice within a second, and data perhaps
  kPutOnHold,     ///< want rollouts of a workload later, as `kubectl reloader pause` does; or now
  kEditOther,     ///< give a source other data under a key that some workloads do not use
  kScale,         ///< change how many pods a workload has
  kBreak,         ///< give a source data with which pods crash, where policies have waves
};
inline constexpr std::size_t kActs = 25;

/// For lines and flags.
std::string_view ToString(Act act);

/// People and their tools: they make namespaces, sources and workloads, and edit them. What they
/// ask for is tried until it is done. Not thread-safe.
class People {
 public:
  /// What they work with.
  struct Options {
    std::shared_ptr<rest::RESTClient> client{};
    /// What undoing a rollout of "deployments/ns/name" brings back.
    std::function<std::optional<oracle::Oracle::Former>(const std::string& workload)> former{};
    /// Some workloads are to have no baseline.
    bool some_unrecorded = false;
    /// Tenants have ReloadPolicies.
    bool policies = false;
    /// There are Rollouts of Argo among the workloads.
    bool argo = false;
    /// The cluster is one of OpenShift: operators need not ask each minute whether it has become
    /// one.
    bool openshift = false;
    /// Gives what a namespace's SecretProviderClass names another version; null: the Secrets Store
    /// CSI driver is not there.
    std::function<void(const std::string& space)> rotate{};
    /// Operators reload the pods of some workloads in place of rollouts.
    bool in_place = false;
    /// Without policies: in each namespace one source is an object of a kind that is described to
    /// operators, which workloads name.
    bool objects = false;
    /// Without policies: some workloads name sources of other namespaces, which allow it and do
    /// not.
    bool others = false;
    Rights rights = Rights::kEverywhere;
    /// By Act: what nobody does.
    std::uint64_t without = 0;
  };

  /// `timeline` must outlive it.
  People(Options options, oracle::Random random, Timeline& timeline);

  /// Makes what there is at the beginning; blocks until it is there.
  void Begin(const std::stop_token& stop);
  /// The namespaces of sources and workloads.
  const std::vector<std::string>& spaces() const { return spaces_; }
  /// Gives operators their rights, or takes all of them; blocks until that is so.
  void SetRights(bool given, const std::stop_token& stop);
  /// The same with those that they have in one namespace, where they have them by namespace.
  void SetRightsIn(const std::string& space, bool given, const std::stop_token& stop);
  /// Has a workload rolled twice for one of its sources, and returns which workload that was, so
  /// that an undo brings the first of these rollouts back; nothing when operators do not do it in
  /// time. Blocks for up to some minutes.
  std::optional<std::size_t> PrepareUndo(const std::stop_token& stop);
  /// Undoes the last rollout of a workload of PrepareUndo, and with `mend` gives its source back
  /// what it had then.
  void UndoPrepared(std::size_t workload, bool mend, const std::stop_token& stop);
  /// Takes a workload's baseline away.
  void StripOne(const std::stop_token& stop);
  /// Edits a source of a workload, releases the workload and takes the edit back; or releases the
  /// workload, or scales it, and touches the source, which then has the data that the pods began
  /// with. `unseen`: no operator sees it, which makes the first the more likely one.
  void ReleaseInBetween(bool unseen, const std::stop_token& stop);
  /// Takes the baseline of a workload away that is to have one, if it has pods and can be scaled:
  /// its path and its index. Nothing: there is none.
  std::optional<std::pair<std::string, std::size_t>> ChooseUnrecorded(const std::stop_token& stop);
  /// Edits a source of the workload, and scales the workload seconds later.
  void EditAndScale(std::size_t workload, const std::stop_token& stop);
  /// Edits up to three sources, one right after the other.
  void EditSome(const std::stop_token& stop);
  /// Does one thing: mostly an edit of data.
  void Do(const std::stop_token& stop);
  /// Installs again what has been taken away of the types that a cluster may have.
  void InstallMissing(const std::stop_token& stop);
  /// Installs a policy with waves in each namespace, where there are policies: which waves these
  /// are. They stay until EndHolds, and some of the data with which people break things are mended
  /// only then.
  std::optional<oracle::Oracle::Waves> BeginWaves(bool restores, const std::stop_token& stop);
  /// Whether some sources are objects of the kind that operators have to be told of.
  bool HasObjects() const { return options_.objects && !options_.policies; }
  /// Whether some workloads name sources of other namespaces, which operators have to be told of.
  bool HasOthers() const { return options_.others && !options_.policies; }
  /// No policy, and nobody who has put a workload on hold, holds anything back from here on; blocks
  /// until that is so.
  void EndHolds(const std::stop_token& stop);

 private:
  /// A ConfigMap, a Secret or an object.
  struct Source {
    bool is_secret = false;
    bool is_object = false;  ///< of oracle::kObjectKind
    std::string space{};
    std::string name{};
    std::uint64_t value = 0;
    std::uint64_t former = 0;
    std::uint64_t other = 0;             ///< under a key of its own
    std::deque<std::uint64_t> values{};  ///< that it has had lately
    bool there = false;
    bool paused = false;
    bool allowed = true;  ///< to workloads of other namespaces
  };
  struct Workload {
    std::size_t kind = 0;  ///< index of kWorkloadPlurals
    std::string space{};
    std::string name{};
    /// Of a Rollout, the Deployment whose template it uses; empty: it has its own.
    std::string base{};
    std::vector<std::size_t> sources{};  ///< indexes in sources_, of its namespace
    std::vector<std::size_t> others{};   ///< the same, of other namespaces
    std::uint64_t release = 1;
    std::string baseline{};  ///< copied from the one of that name before
    bool mounts = false;     ///< its namespace's SecretProviderClass
    bool unrecorded = false;
    bool opted_out = false;
    bool on_hold = false;
    bool was_on_hold = false;  ///< and may be so again, when an earlier state comes back
    bool by_key = false;       ///< only the keys that it uses are to count
    bool in_place = false;     ///< it has files, and its pods are to be reloaded in place
    bool has_both = false;     ///< with files: it has its first source in its environment, too
    bool pauses = false;       ///< operators pause it after a rollout
    bool held = false;
    bool there = false;
    int troubles = 0;  ///< since `quiet_since`, of those that operators answer ever more slowly
    base::TimePoint quiet_since{};
  };
  struct Request {
    std::string method{};
    std::string path{};
    std::string body{};
    rest::PatchType patch = rest::PatchType::kStrategicMerge;
    const char* manager = "";  ///< empty: by the name of the program
  };

  /// Sends it until the server has answered with other than an error of its own; 404 and 409 are
  /// such answers.
  /// Whether the answer was that it is done.
  bool Insist(const Request& request, const std::stop_token& stop);
  /// The server merges no lists of custom resources.
  void Patch(const std::string& path, std::string body, const std::stop_token& stop) {
    const bool is_custom = path.find("/rollouts/") != std::string::npos ||
                           path.find(kObjectGroup) != std::string::npos;
    Insist({.method = "PATCH",
            .path = path,
            .body = std::move(body),
            .patch = is_custom ? rest::PatchType::kMerge : rest::PatchType::kStrategicMerge},
           stop);
  }
  static std::string PathOf(const Source& source);
  bool NamesObjects(const Workload& workload) const;
  /// What makes operators roll it for objects, and for sources of other namespaces, as a member of
  /// JSON with a comma; else empty.
  std::string ReloadOnOf(const Workload& workload) const;
  static std::string PathOf(const Workload& workload);
  /// Of the object that has its template.
  static std::string TemplatePathOf(const Workload& workload);
  std::string BodyOf(const Source& source, bool labelled) const;
  /// Chooses what workloads name of other namespaces.
  void ChooseOthers();
  /// Allows workloads of other namespaces to name the source, or no longer, maybe with other data.
  void Allow(Source& source, const std::stop_token& stop);
  /// As JSON.
  static std::string DataOf(const Source& source);
  static std::string ValueOf(bool is_secret, std::uint64_t value);
  /// What its container says of its sources, as a member of JSON.
  std::string UseOf(const Workload& workload) const;
  /// The same of one that has files.
  std::string FilesOf(const Workload& workload) const;
  /// The volumes of its pods, as a member of JSON with a comma before it, or nothing.
  std::string VolumesOf(const Workload& workload) const;
  std::string BodyOf(const Workload& workload);
  std::string BaseBodyOf(const Workload& workload) const;
  std::string PodOf(const Workload& workload) const;
  /// The object there as one may be made of it again; nothing: it cannot be had.
  std::optional<std::string> CopyOf(const std::string& path, const std::stop_token& stop);
  std::string BaselineAt(const std::string& path, const std::stop_token& stop);
  std::string NextMark(const char* what) { return what + ("-" + std::to_string(next_value_++)); }
  Act Choose();
  void Strip(Workload& workload, const std::stop_token& stop);
  /// Whether operators would not take more of it for a fight.
  static bool MayTrouble(Workload& workload);
  void Do(Act act, Source& source, Workload& workload, const std::stop_token& stop);
  void DoTo(Source& source, Act act, const std::stop_token& stop);
  void Put(Source& source, const std::stop_token& stop);
  void Put(Workload& workload, const std::stop_token& stop);
  /// Deletes it; false: it is not there, at the moment at least.
  bool Remove(const Workload& workload, const std::stop_token& stop);
  /// A change of its template makes new pods, and there may be one.
  static bool HasTemplate(const Workload& workload) {
    return workload.kind != kCronJob && workload.kind != kJob;
  }
  bool IsServed(const Workload& workload) const {
    return workload.kind != kRollout || has_api_[static_cast<std::size_t>(OptionalApi::kArgo)];
  }
  void Edit(Source& source, std::uint64_t value, const std::stop_token& stop);
  /// It has this value from now on.
  static void SetValue(Source& source, std::uint64_t value);
  void Break(Source& source, const std::stop_token& stop);
  /// What such a policy of the namespace says besides, when the last good data are to be put back.
  std::string OnFailureIn(const std::string& space) const;
  /// Of a workload of the first wave, or of any.
  Source& SourceForWaves();
  void Release(Workload& workload, const std::stop_token& stop);
  /// A Job ends, if there is any.
  void EndJob(const std::stop_token& stop);
  void Restart(Workload& workload, const std::stop_token& stop);
  void ReleaseTwice(Workload& workload, const std::stop_token& stop);
  void PutOnHold(Workload& workload, const std::stop_token& stop);
  void Resume(Workload& workload, const std::stop_token& stop);
  void EditOther(Source& source, const std::stop_token& stop);
  /// By an autoscaler, which owns no template, or who releases it, too.
  void Scale(Workload& workload, const std::stop_token& stop);
  /// `manager`: empty for who releases it, too.
  void ScaleAs(const char* manager, Workload& workload, const std::stop_token& stop);
  void ReleaseWithData(Workload& workload, const std::stop_token& stop);
  void Replace(Workload& workload, const std::stop_token& stop);
  void MakeAnew(const std::stop_token& stop);
  void Undo(Workload& workload, bool mend, const std::stop_token& stop);
  /// A source, and the data of it that a rollout was for which has these stamps in its template.
  struct Data {
    std::size_t source = 0;
    std::uint64_t value = 0;
  };
  /// As operators write it into the template of the workload when the source has this value.
  static std::string DigestFor(const Workload& workload, const Source& source, std::uint64_t value);
  /// Of a workload, data that a template was rolled for and that its source has no more; nothing:
  /// there are none.
  std::optional<Data> FormerData(const Workload& workload, const std::string& pod_template) const;
  /// Waits until operators have rolled the workload for the present data of the source, and its
  /// pods are there; false: they do not.
  bool AwaitRollout(const Workload& workload, const Source& source, const std::stop_token& stop);
  /// Makes the roles that operators may have.
  void MakeRoles(const std::stop_token& stop);
  /// Gives operators the role in a namespace, or everywhere with "".
  void Bind(const std::string& space, const std::string& role, const std::stop_token& stop);
  void Unbind(const std::string& space, const std::stop_token& stop);
  void OptOut(Workload& workload, const std::stop_token& stop);
  void Hold(Workload& workload, const std::stop_token& stop);
  /// The definition of policies, as the chart has it, in JSON.
  static std::string PolicyDefinition(const std::string& plural);
  void ChangePolicy(const std::string& space, const std::stop_token& stop);
  void PutPolicy(const std::string& space, const std::string& spec, const std::stop_token& stop);
  /// The types that this cluster has most of the time, and that come and go.
  std::vector<OptionalApi> OptionalApis() const;
  /// Has the server serve its types; blocks until it does.
  void Install(OptionalApi api, const std::stop_token& stop);
  /// Has the server not serve them any more; blocks until the objects are gone.
  void TakeAway(OptionalApi api, const std::stop_token& stop);
  void ChangeOptional(const std::stop_token& stop);
  /// Makes the namespace's SecretProviderClass.
  void PutClass(const std::string& space, const std::stop_token& stop);

  const Options options_;
  oracle::Random random_;
  Timeline& timeline_;
  std::vector<std::string> spaces_{};
  std::vector<Source> sources_{};
  std::vector<Workload> workloads_{};
  std::set<std::string> with_policy_{};        ///< namespaces
  bool has_waves_ = false;                     ///< see BeginWaves
  std::array<bool, kOptionalApis> has_api_{};  ///< by OptionalApi
  std::uint64_t next_value_ = 1;
};

/// Of values from this one on the data are bad: see oracle::IsBad.
inline constexpr std::uint64_t kFirstBad = 1'000'000'000;
/// What the data of a source with this value are, under the key "key".
std::string PlainValueOf(bool is_secret, std::uint64_t value);

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_PEOPLE_H_
