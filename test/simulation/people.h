/// @file
/// Who changes things in the simulated cluster.
#ifndef KUBEXX_TEST_SIMULATION_PEOPLE_H_
#define KUBEXX_TEST_SIMULATION_PEOPLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
inline constexpr std::array<std::string_view, 4> kWorkloadPlurals = {"deployments", "statefulsets",
                                                                     "daemonsets", "cronjobs"};
// Indexes of them.
inline constexpr std::size_t kDeployment = 0;
inline constexpr std::size_t kStatefulSet = 1;
inline constexpr std::size_t kDaemonSet = 2;
inline constexpr std::size_t kCronJob = 3;

/// Who operators are for the API server.
inline constexpr const char* kOperatorUser = "operator";

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
};
inline constexpr std::size_t kActs = 16;

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
    /// By Act: what nobody does.
    std::uint64_t without = 0;
  };

  /// `timeline` must outlive it.
  People(Options options, oracle::Random random, Timeline& timeline);

  /// Makes what there is at the beginning; blocks until it is there.
  void Begin(const std::stop_token& stop);
  /// Gives operators their rights, or takes all of them; blocks until that is so.
  void SetRights(bool given, const std::stop_token& stop);
  /// Does one thing: mostly an edit of data.
  void Do(const std::stop_token& stop);
  /// No policy holds anything back from here on; blocks until that is so.
  void EndPolicies(const std::stop_token& stop);

 private:
  /// A ConfigMap or a Secret.
  struct Source {
    bool is_secret = false;
    std::string space{};
    std::string name{};
    std::uint64_t value = 0;
    std::uint64_t former = 0;
    bool there = false;
    bool paused = false;
  };
  struct Workload {
    std::size_t kind = 0;  ///< index of kWorkloadPlurals
    std::string space{};
    std::string name{};
    std::vector<std::size_t> sources{};  ///< indexes in sources_, of its namespace
    std::uint64_t release = 1;
    std::string baseline{};  ///< copied from the one of that name before
    bool unrecorded = false;
    bool opted_out = false;
    bool pauses = false;  ///< operators pause it after a rollout
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
  void Insist(const Request& request, const std::stop_token& stop);
  void Patch(const std::string& path, std::string body, const std::stop_token& stop) {
    Insist({.method = "PATCH", .path = path, .body = std::move(body)}, stop);
  }
  static std::string PathOf(const Source& source);
  static std::string PathOf(const Workload& workload);
  static std::string BodyOf(const Source& source, bool labelled);
  std::string BodyOf(const Workload& workload) const;
  std::string PodOf(const Workload& workload) const;
  /// The object there as one may be made of it again; nothing: it cannot be had.
  std::optional<std::string> CopyOf(const std::string& path, const std::stop_token& stop);
  std::string BaselineAt(const std::string& path, const std::stop_token& stop);
  std::string NextMark(const char* what) { return what + ("-" + std::to_string(next_value_++)); }
  Act Choose();
  /// Whether operators would not take more of it for a fight.
  static bool MayTrouble(Workload& workload);
  void Do(Act act, Source& source, Workload& workload, const std::stop_token& stop);
  void DoTo(Source& source, Act act, const std::stop_token& stop);
  void Put(Source& source, const std::stop_token& stop);
  void Put(Workload& workload, const std::stop_token& stop);
  void Edit(Source& source, std::uint64_t value, const std::stop_token& stop);
  void Release(Workload& workload, const std::stop_token& stop);
  void ReleaseWithData(Workload& workload, const std::stop_token& stop);
  void Replace(Workload& workload, const std::stop_token& stop);
  void MakeAnew(const std::stop_token& stop);
  void Undo(Workload& workload, const std::stop_token& stop);
  void OptOut(Workload& workload, const std::stop_token& stop);
  void Hold(Workload& workload, const std::stop_token& stop);
  /// Has the server serve policies; blocks until it does.
  void InstallPolicies(const std::stop_token& stop);
  void ChangePolicy(const std::string& space, const std::stop_token& stop);

  const Options options_;
  oracle::Random random_;
  Timeline& timeline_;
  std::vector<std::string> spaces_{};
  std::vector<Source> sources_{};
  std::vector<Workload> workloads_{};
  std::set<std::string> with_policy_{};  ///< namespaces
  std::uint64_t next_value_ = 1;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_PEOPLE_H_
