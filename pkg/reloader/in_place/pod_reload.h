/// @file
/// The reload of one pod.
#ifndef KUBEXX_RELOADER_IN_PLACE_POD_RELOAD_H_
#define KUBEXX_RELOADER_IN_PLACE_POD_RELOAD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/in_place/mount_check.h"
#include "kubexx/reloader/in_place/outage.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/reloader/in_place/reload_action.h"

namespace kubexx::reloader {

/// How long the parts of a reload may take.
struct ReloadTimes {
  /// Until the kubelet has written the files, counted from the first look at the pod. A kubelet
  /// that is not asked looks every minute or so.
  base::Duration files = std::chrono::seconds(150);
  /// Between two looks at the files: the first and the longest, which doubling leads to.
  base::Duration first_look = std::chrono::milliseconds(200);
  base::Duration longest_look = std::chrono::seconds(2);
  /// Between two requests to the kubelet. The first may come before the kubelet has seen the new
  /// data, and then changes nothing.
  base::Duration ask_again = std::chrono::seconds(1);
  /// From the action until the container's state is looked at: a program that a signal ends, or
  /// that does not like its new files, is not always gone at once.
  base::Duration settle = std::chrono::seconds(1);
  /// Between two calls of PodReload::Input::check_anew while the files are not there.
  base::Duration check_anew = std::chrono::seconds(10);
  /// From the action until the pod must be ready.
  base::Duration ready = std::chrono::seconds(60);
  /// For how long the API server or the kubelet may be away, and may deny what is asked for; see
  /// Outage. `files` and `ready` do not go on in this time.
  base::Duration outage = std::chrono::seconds(120);
  base::Duration denied = std::chrono::seconds(20);
};

/// Reloads one pod, step by step: asks the kubelet for the files, waits until they are in the
/// container, carries out the action, and waits until the pod is ready. Repeating it from the start
/// does no harm. Not thread-safe.
class PodReload {
 public:
  struct Input {
    apimachinery::ObjectKey pod{};
    std::string uid{};
    ReloadAction action{};
    std::string container{};           ///< for the action
    std::vector<MountCheck> checks{};  ///< see MountChecksFor
    ReloadTimes times{};
    /// Makes the checks for the pod anew, since what is beside the sources in their volumes may
    /// change at any time. Empty: there is nothing beside them.
    std::function<apimachinery::Result<std::vector<MountCheck>>(const api::core::v1::Pod& pod,
                                                                const std::stop_token& stop)>
        check_anew{};
  };
  enum class Progress : std::uint8_t {
    kAgain,   ///< call Step again after Outcome::after
    kDone,    ///< the pod runs with the new data
    kGone,    ///< the pod is gone, or on its way out
    kFailed,  ///< the pod cannot be reloaded
  };
  struct Outcome {
    Progress progress = Progress::kAgain;
    base::Duration after{0};
    std::string why{};        ///< with kFailed: a clause without any output of the container
    bool is_refused = false;  ///< with kFailed: the program does not take the data
  };

  explicit PodReload(Input input);
  /// Makes a few requests.
  Outcome Step(PodAccess& access, const base::Clock& clock, const std::stop_token& stop);
  const apimachinery::ObjectKey& pod() const { return input_.pod; }
  const std::string& uid() const { return input_.uid; }

 private:
  enum class Stage : std::uint8_t { kFiles, kReady };
  Outcome AwaitFiles(PodAccess& access, const api::core::v1::Pod& pod, const base::Clock& clock,
                     const std::stop_token& stop);
  Outcome Act(PodAccess& access, const base::Clock& clock, const std::stop_token& stop);
  /// The action has failed.
  Outcome AfterAction(PodAccess& access, const apimachinery::Status& why, base::TimePoint now,
                      const std::stop_token& stop);
  Outcome AwaitReady(const api::core::v1::Pod& pod, base::TimePoint now) const;
  /// The files are not there yet.
  Outcome AwaitMore(const api::core::v1::Pod& pod, base::TimePoint now,
                    const std::stop_token& stop);
  /// Whether all files are in the container.
  apimachinery::Result<bool> HasFiles(PodAccess& access, const std::stop_token& stop);
  apimachinery::Result<bool> HasFiles(PodAccess& access, const MountCheck& check,
                                      const std::stop_token& stop);
  /// Whether the time for the files is over.
  bool IsLate(base::TimePoint now) const;
  /// Tries again what has failed, unless that is hopeless or goes on for too long.
  Outcome Stumble(const apimachinery::Status& status, const std::string& what, base::TimePoint now);
  base::Duration NextLook();

  Input input_;
  std::optional<base::TimePoint> files_by_;  ///< std::nullopt: nothing has been looked at yet
  Stage stage_ = Stage::kFiles;
  base::Duration look_;
  std::optional<base::TimePoint> asked_;
  std::optional<base::TimePoint> checked_;  ///< when Input::checks were made, or looked at first
  std::string missing_;                     ///< why HasFiles was false: a clause
  base::TimePoint acted_{};
  base::Duration lost_until_acted_{0};  ///< see Outage::Lost
  Outage outage_;
};

/// The container of a pod that an action is for: the one of that name, or else the one that
/// kubectl takes by default. Fails with kInvalid, and a clause, when there is none, or when the
/// action cannot reach it: in a pod whose containers share a process namespace, process 1 belongs
/// to none of them.
apimachinery::Result<std::string> ContainerFor(const api::core::v1::Pod& pod,
                                               const ReloadAction& action);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_POD_RELOAD_H_
