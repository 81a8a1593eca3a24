/// @file
/// Lists and watches one kind of workload, or what else an operator may have to do without, with
/// what rights there are.
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

/// Stands between a reflector and the API server. With all rights it is not there. Where `watch` is
/// refused, the watch only waits, and ends when a list is asked for; where `list` is refused,
/// or the API is not served, there are no objects. What is missing is asked for again now and then,
/// and used once it is there. Thread-safe; one reflector at a time.
class WorkloadListWatch final : public cache::ListerWatcher {
 public:
  struct Options {
    WorkloadKind kind = WorkloadKind::kDeployment;
    /// For what is no workload: its kind, as Fallbacks is told. It is never listed on demand.
    std::string_view other_kind{};
    /// What is listed, as Fallbacks is told; empty: all namespaces.
    std::string namespace_{};
    /// Asks whether the server has the API; not set: it has.
    std::function<apimachinery::Result<bool>(std::stop_token)> is_served{};
    /// Lists one namespace; empty: there is no way to, or only one anyway.
    std::function<std::shared_ptr<cache::ListerWatcher>(const std::string&)> in_namespace{};
    base::Clock& clock = base::Clock::Real();
    /// Between lists on demand. Not below a second, the reflector's limit of a watch that failed.
    base::Duration list_interval = std::chrono::seconds(1);
    /// Until what is missing is asked for again; the first times earlier, doubling from a second.
    base::Duration retry_interval = std::chrono::minutes(1);
    /// Where something has been listed: for how long a server must say that it does not serve the
    /// API until that is believed. One that is starting says so too, as does a proxy before it.
    base::Duration unserved_patience = std::chrono::minutes(1);
    /// Told once, on the reflector's thread and outside locks, when there is no first list and the
    /// server has answered nothing but errors for `late_after`: whoever waits for it may wait for
    /// ever.
    std::function<void(const apimachinery::Status&)> on_late{};
    base::Duration late_after = std::chrono::minutes(1);
  };

  WorkloadListWatch(std::shared_ptr<cache::ListerWatcher> inner,
                    std::shared_ptr<Fallbacks> fallbacks, Options options);

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override;
  /// Answers no demand for a list.
  apimachinery::Result<std::string> CurrentVersion(std::stop_token stop) override {
    return inner_->CurrentVersion(std::move(stop));
  }

  /// Whether an error of List or Watch only steers the reflector; everything else was refused or
  /// has failed.
  static bool IsOwn(const apimachinery::Status& status);

  WorkloadKind kind() const { return options_.kind; }
  /// Whether objects change only when a list is asked for.
  bool IsOnDemand() const;
  /// How changes of objects are heard of.
  enum class Hearing : std::uint8_t {
    kWatched,   ///< by a watch that has told of something
    kInDoubt,   ///< by a watch, unless it turns out to be refused
    kOnDemand,  ///< as IsOnDemand
    kNone,      ///< there are no objects
  };
  Hearing hearing() const;
  /// Asks for a list that begins after this call; the number to wait for.
  std::uint64_t AskForList();
  /// Blocks until that list is on its way to the store; its version. Those who wait at the same
  /// time share a list. Nothing when the kind is not on demand any more, `stop` is requested, or
  /// it takes longer than `patience`: a server that refuses every list must not hold up whoever
  /// waits.
  std::optional<std::string> AwaitList(std::uint64_t number, const std::stop_token& stop,
                                       base::Duration patience = std::chrono::seconds(10));
  /// Takes the objects of a namespace.
  using PartSink = base::FunctionRef<apimachinery::Result<void>(std::vector<cache::Object>&&)>;
  /// Lists one namespace on the calling thread, from the API server's cache when that is not older
  /// than `version` (empty: as it is now), and hands its objects to `sink`, unless everything is
  /// being listed or watched by then. Whether it has. After it what is watched again is listed
  /// first.
  bool ListNamespace(const std::string& namespace_, const std::string& version, PartSink sink,
                     const std::stop_token& stop);

 private:
  enum class Mode : std::uint8_t {
    kWatched,   ///< or not refused yet
    kOnDemand,  ///< `watch` is refused
    kProbing,   ///< it was, and is being tried
    kAbsent,    ///< `list` is refused, or the API not served
  };

  apimachinery::Result<std::vector<cache::Object>> ListPart(const std::string& namespace_,
                                                            const std::string& version,
                                                            const std::stop_token& stop);
  apimachinery::Result<codec::ListMeta> OnListRefused(const apimachinery::Status& status);
  apimachinery::Result<codec::ListMeta> Absent();
  /// What a list gives while the server says that it does not serve the API.
  apimachinery::Result<codec::ListMeta> NotServed(const apimachinery::Status& status);
  /// All objects have been listed, or come with a watch.
  void HasListed();
  /// Counts a failure to list all objects, or to watch with them, while there is no first list.
  void NoteFailure(const apimachinery::Status& status);
  bool Serves(const std::stop_token& stop);
  /// Watches, and notes what comes of it.
  apimachinery::Result<void> TryWatch(const apimachinery::ListOptions& options, EventSink sink,
                                      const std::stop_token& stop);
  /// What a Wait ended with.
  enum class Next : std::uint8_t { kStop, kList, kTryWatch };
  Next AwaitDemand(const std::stop_token& stop);
  void ListIsInStore();
  bool HasParts() const;
  /// Everything is about to be listed: parts that were listed before are part of that.
  void BeginFullList();
  void SetMode(Mode mode);
  void SetGranted(bool granted);
  Mode mode() const;
  Right RightTo(std::string_view verb) const;
  void BeginProbe();

  const std::shared_ptr<cache::ListerWatcher> inner_;
  const std::shared_ptr<Fallbacks> fallbacks_;
  const Options options_;

  /// Held while a namespace is handed over, so that no list of everything begins; before mu_.
  base::Mutex list_mu_;
  std::uint64_t lists_ KX_GUARDED_BY(list_mu_) = 0;  ///< of everything
  mutable base::Mutex mu_;
  base::CondVar changed_;
  /// Namespaces are newer than the version that a watch would begin at.
  bool has_parts_ KX_GUARDED_BY(mu_) = false;
  Mode mode_ KX_GUARDED_BY(mu_) = Mode::kWatched;
  bool is_granted_ KX_GUARDED_BY(mu_) = false;  ///< the watch that is open has told of something
  bool has_listed_ KX_GUARDED_BY(mu_) = false;
  /// Since when the server says that it does not serve the API.
  std::optional<base::TimePoint> unserved_since_ KX_GUARDED_BY(mu_);
  /// Since when it answers with errors, while there is no first list.
  std::optional<base::TimePoint> failing_since_ KX_GUARDED_BY(mu_);
  bool is_late_ KX_GUARDED_BY(mu_) = false;
  /// When to ask again for what is missing, or when that was done last; and how long to wait then.
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
