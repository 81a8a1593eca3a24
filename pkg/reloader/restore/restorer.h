/// @file
/// Looks after the sources of policies whose waves restore data.
#ifndef KUBEXX_RELOADER_RESTORE_RESTORER_H_
#define KUBEXX_RELOADER_RESTORE_RESTORER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/restore/restore_standing.h"
#include "kubexx/reloader/restore/restore_work.h"
#include "kubexx/reloader/restore/source_store.h"

namespace kubexx::reloader {

/// Has a thread that looks at the sources which it is told of: it keeps a snapshot of good data,
/// and puts them back when others have failed. It reports what has come of that, once for each
/// version of the data. Remembers a few words for each source that a policy with
/// OnWaveFailure::kRestore concerns, and nothing of others. Thread-safe.
class Restorer {
 public:
  /// A source is looked at so long after the first call of Consider for it, since many workloads of
  /// one source mention it at about the same time.
  static constexpr base::Duration kGather = std::chrono::seconds(1);
  /// So long after a failure that passes it tries again at first, and then after twice as long each
  /// time, up to kRetryMost.
  static constexpr base::Duration kRetryFirst = std::chrono::seconds(2);
  static constexpr base::Duration kRetryMost = std::chrono::minutes(5);
  /// How often it looks whether a person has done something, as granting a right.
  static constexpr base::Duration kLookAgain = std::chrono::minutes(10);
  /// How often it makes sure that there is a snapshot: the key of snapshots may be gone, or the
  /// tools that apply the source may be others.
  static constexpr base::Duration kMakeSure = std::chrono::minutes(10);
  /// How often it looks whether data that are not settled have become so; mostly it is told.
  static constexpr base::Duration kLookForSettled = std::chrono::minutes(1);

  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// See SnapshotOf.
    std::string ignore_annotation = "reloader.stakater.com/ignore";
    /// How a source stands. `good`: data of which there is a snapshot, so that it does not matter
    /// whether they are settled. Called on the thread of this object.
    std::function<RestoreStanding(const SourceId&, const std::optional<Digest>& good)> standing{};
    /// Informed of what users should know; on the thread of this object. Must not block. May be
    /// empty.
    std::function<void(const RestoreReport&)> report{};
    /// Whether this replica writes in a namespace. Empty: in all.
    std::function<bool(std::string_view namespace_)> writes{};
  };
  /// `store` must outlive this object.
  Restorer(SourceStore& store, Options options);
  /// Stops.
  ~Restorer();
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  /// Something has changed that may concern snapshots or restores of these sources. Never blocks.
  void Consider(const std::vector<SourceId>& sources);
  /// A snapshot of the source may have been deleted, so it is looked for, and taken again. Never
  /// blocks.
  void SnapshotGone(const SourceId& source);
  /// Ends the thread; a request that is under way is cancelled. May be called again.
  void Stop();
  /// The number of sources of which something is remembered.
  std::size_t known() const;

 private:
  /// What is known of a source.
  struct Known {
    std::optional<Digest> good{};  ///< there is a snapshot of these data, and it is the newest
    base::TimePoint sure_until{};  ///< `good` is taken for true until then
    std::optional<RestoreReport> reported{};
    /// How the source stood when something could not be done. As long as it stands so, nothing is
    /// tried before `not_before`, however often Consider is called.
    std::optional<RestoreStanding> stalled{};
    base::TimePoint not_before{};
    int failures = 0;               ///< in a row, of requests
    int waits = 0;                  ///< in a row, for the permission to write
    bool has_told_of_mark = false;  ///< what was put back last is told, or nothing was
    bool is_snapshot_gone = false;  ///< SnapshotGone was called
    /// When to look again; std::nullopt: when Consider is called.
    std::optional<base::TimePoint> again{};
  };

  void Run(const std::stop_token& stop);
  /// Looks at a source. Returns what is known of it then; std::nullopt: nothing of interest.
  std::optional<Known> Look(const SourceId& source, Known known, const std::stop_token& stop);
  void Keep(const SourceId& source, const RestoreStanding& standing, Known& known,
            const std::stop_token& stop);
  void Restore(const SourceId& source, const RestoreStanding& standing, Known& known,
               const std::stop_token& stop);
  /// Tells of what an earlier process has put back.
  void ReportEarlier(const SourceId& source, const RestoreStanding& standing, Known& known,
                     const std::stop_token& stop);
  void ReportRestored(const RestoreStanding& standing, const RestoreWork::Restored& restored) const;
  /// Something was not done: lets it wait.
  void Stall(const RestoreStanding& standing, const NotDone& not_done, Known& known) const;
  void Report(RestoreReport report, Known& known) const;
  /// What was reported as wrong is so no longer.
  void ReportOver(const SourceId& source, Known& known) const;

  const Options options_;
  RestoreWork work_;  ///< used by the thread only
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::map<SourceId, Known> known_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: ends before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_RESTORER_H_
