/// @file
/// Lists and watches one kind of workloads, or another resource that the operator can do without,
/// with the rights that it has.
#ifndef KUBEXX_RELOADER_WATCH_WORKLOAD_LIST_WATCH_H_
#define KUBEXX_RELOADER_WATCH_WORKLOAD_LIST_WATCH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/permissions/fallbacks.h"

namespace kubexx::reloader {

/// Stands between a reflector and the API server. While the operator has all rights, it only passes
/// requests on. When the right to `watch` is missing, Watch waits without a request and ends when a
/// list is asked for. When the right to `list` is missing or the API is not served, it reports that
/// there are no objects. It tries again from time to time what is missing, and uses it as soon as
/// it works. Thread-safe; for one reflector at a time.
class WorkloadListWatch final : public cache::ListerWatcher {
 public:
  struct Options {
    WorkloadKind kind = WorkloadKind::kDeployment;
    /// For a resource that is not a workload: the kind under which Fallbacks is informed. Such a
    /// resource is never listed on demand.
    std::string_view other_kind{};
    /// The namespace that is listed, for Fallbacks; empty: all namespaces.
    std::string namespace_{};
    /// Asks whether the server has the API. An answer that is not older than `max_age` will do.
    /// Empty: it is assumed to have it.
    std::function<apimachinery::Result<bool>(base::Duration max_age, const std::stop_token&)>
        is_served{};
    /// Returns a ListerWatcher that lists one namespace. Empty: that is not possible, or only one
    /// namespace is listed anyway.
    std::function<std::shared_ptr<cache::ListerWatcher>(const std::string&)> in_namespace{};
    base::Clock& clock = base::Clock::Real();
    /// The shortest time between lists on demand. Not below a second, after which the reflector
    /// would regard a watch as failed.
    base::Duration list_interval = std::chrono::seconds(1);
    /// The time until something that is missing is tried again. The first times are shorter: they
    /// double from one second.
    base::Duration retry_interval = std::chrono::minutes(1);
    /// After a successful list: for how long the server must say that it does not serve the API
    /// until that is believed. A server that is starting says so, too, as does a proxy in front of
    /// it.
    base::Duration unserved_patience = std::chrono::minutes(1);
    /// Called once, on the reflector's thread and outside locks, when the first list is missing and
    /// the server has answered only with errors for `late_after`. Whoever waits for the list might
    /// wait forever.
    std::function<void(const apimachinery::Status&)> on_late{};
    base::Duration late_after = std::chrono::minutes(1);
  };

  WorkloadListWatch(std::shared_ptr<cache::ListerWatcher> inner,
                    std::shared_ptr<Fallbacks> fallbacks, Options options);

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override;
  bool CanStartWatch() const override { return inner_->CanStartWatch(); }
  apimachinery::Result<std::unique_ptr<cache::OpenWatch>> StartWatch(
      const apimachinery::ListOptions& options, std::stop_token stop) override;
  /// Does not count as an answer to AskForList.
  apimachinery::Result<std::string> CurrentVersion(std::stop_token stop) override {
    return inner_->CurrentVersion(std::move(stop));
  }

  /// Whether an error of List or Watch only controls the reflector. Any other error means that a
  /// request was refused or failed.
  static bool IsOwn(const apimachinery::Status& status);

  WorkloadKind kind() const { return options_.kind; }
  /// Whether the stored objects change only when a list is asked for.
  bool IsOnDemand() const;
  /// How changes of the objects become known.
  enum class Hearing : std::uint8_t {
    kWatched,   ///< by a watch that has delivered an event
    kInDoubt,   ///< by a watch that may turn out to be refused
    kOnDemand,  ///< see IsOnDemand
    kNone,      ///< there are no objects
  };
  Hearing hearing() const;
  /// Asks for a list that begins after this call. Returns the number to pass to AwaitList.
  std::uint64_t AskForList();
  /// Blocks until that list is on its way to the store and returns its resource version. All
  /// callers that wait at the same time share a list. Returns std::nullopt when the kind is not on
  /// demand any more, `stop` is requested, or it takes longer than `patience`: a server that
  /// refuses every list must not block the callers.
  std::optional<std::string> AwaitList(std::uint64_t number, const std::stop_token& stop,
                                       base::Duration patience = std::chrono::seconds(10));
  /// Receives the objects of a namespace.
  using PartSink = base::FunctionRef<apimachinery::Result<void>(std::vector<cache::Object>&&)>;
  /// Lists one namespace on the calling thread and passes its objects to `sink`. The API server may
  /// answer from its cache if that is not older than `version`; empty: it must read the present
  /// state. Returns whether that succeeded; false, without calling `sink`, when everything is being
  /// listed or watched by then. If a watch becomes possible later, everything is listed before it.
  bool ListNamespace(const std::string& namespace_, const std::string& version, PartSink sink,
                     const std::stop_token& stop);

 private:
  enum class Mode : std::uint8_t {  ///< watched, or not refused yet
    kWatched,                       ///< or not refused yet
    kOnDemand,                      ///< `watch` was refused and is being tried again
    kProbing,                       ///< it was, and is being tried
    kAbsent,                        ///< `list` is refused, or the API is not served
  };

  apimachinery::Result<std::vector<cache::Object>> ListPart(const std::string& namespace_,
                                                            const std::string& version,
                                                            const std::stop_token& stop);
  apimachinery::Result<codec::ListMeta> OnListRefused(const apimachinery::Status& status);
  apimachinery::Result<codec::ListMeta> Absent();
  /// The result of a list while the server says that it does not serve the API.
  apimachinery::Result<codec::ListMeta> NotServed(const apimachinery::Status& status);
  /// All objects have been listed, or a watch has delivered them.
  void HasListed();
  /// Counts a failure to list all objects, or to watch from the start, while the first list is
  /// missing.
  void NoteFailure(const apimachinery::Status& status);
  bool Serves(const std::stop_token& stop);
  /// How old an answer of `is_served` may be.
  base::Duration AgeOfAnswers() const;
  /// Watches, and stores whether that was permitted.
  apimachinery::Result<void> TryWatch(const apimachinery::ListOptions& options, EventSink sink,
                                      const std::stop_token& stop);
  /// The same for a watch that is read without waiting.
  apimachinery::Result<std::unique_ptr<cache::OpenWatch>> TryStartWatch(
      const apimachinery::ListOptions& options, const std::stop_token& stop);
  /// Gets each event of a watch; `granted` is of that watch.
  apimachinery::Result<void> Pass(cache::WatchEvent&& event, EventSink sink, bool& granted);
  apimachinery::Result<void> WatchHasEnded(apimachinery::Result<void> result);
  /// Whether a watch that begins with all objects may be tried; else why not.
  apimachinery::Result<void> BeginInitialWatch(const std::stop_token& stop);
  apimachinery::Result<void> InitialWatchHasEnded(apimachinery::Result<void> result);
  /// The result of a watch that was only tried, if it was permitted.
  std::optional<apimachinery::Result<void>> ProbeHasEnded(const apimachinery::Result<void>& result);
  /// What the reflector is told when a list is due.
  apimachinery::Result<void> ListIsDue() const;
  /// What AwaitDemand has waited for.
  enum class Next : std::uint8_t { kStop, kList, kTryWatch };
  Next AwaitDemand(const std::stop_token& stop);
  /// What is due now, or when to look again. `list` is when there may be a list.
  struct Demand {
    std::optional<Next> next{};
    base::TimePoint until{};
  };
  Demand DemandLocked(base::TimePoint list) const KX_REQUIRES(mu_);
  Demand DemandNow(base::TimePoint list) const;
  base::TimePoint NextListTime() const { return options_.clock.Now() + options_.list_interval; }
  class DemandedWatch;
  /// Has `tell` called at each change, until it is called with nothing.
  void Notify(std::function<void()> tell);
  void ChangedLocked() KX_REQUIRES(mu_);
  void ListIsInStore();
  bool HasParts() const;
  /// Everything is about to be listed, so that namespaces listed before need not be considered.
  void BeginFullList();
  void SetMode(Mode mode);
  void SetGranted(bool granted);
  Mode mode() const;
  Right RightTo(std::string_view verb) const;
  void BeginProbe();

  const std::shared_ptr<cache::ListerWatcher> inner_;
  const std::shared_ptr<Fallbacks> fallbacks_;
  const Options options_;

  /// Held while a namespace is passed on, so that no list of everything begins. Locked before mu_.
  base::Mutex list_mu_;
  std::uint64_t lists_ KX_GUARDED_BY(list_mu_) = 0;  ///< the number of lists of everything
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::function<void()> tell_ KX_GUARDED_BY(mu_);  ///< see Notify
  /// Some namespaces were listed and are newer than the resource version at which a watch would
  /// begin.
  bool has_parts_ KX_GUARDED_BY(mu_) = false;
  Mode mode_ KX_GUARDED_BY(mu_) = Mode::kWatched;
  bool is_granted_ KX_GUARDED_BY(mu_) = false;  ///< the open watch has delivered an event
  bool has_listed_ KX_GUARDED_BY(mu_) = false;
  /// Since when the server says that it does not serve the API.
  std::optional<base::TimePoint> unserved_since_ KX_GUARDED_BY(mu_);
  /// Since when the server answers with errors while the first list is missing.
  std::optional<base::TimePoint> failing_since_ KX_GUARDED_BY(mu_);
  bool is_late_ KX_GUARDED_BY(mu_) = false;
  /// When to try again what is missing, or when it was last tried; and the pause after that.
  base::TimePoint probe_at_ KX_GUARDED_BY(mu_){};
  base::Duration retry_ KX_GUARDED_BY(mu_){};
  // Lists are counted by the calls of AskForList that they answer.
  std::uint64_t asked_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t begun_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t done_ KX_GUARDED_BY(mu_) = 0;
  std::string version_ KX_GUARDED_BY(mu_){};
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_WORKLOAD_LIST_WATCH_H_
