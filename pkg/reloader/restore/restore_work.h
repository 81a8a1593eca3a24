/// @file
/// Takes snapshots of good data, and puts them back when others have failed.
#ifndef KUBEXX_RELOADER_RESTORE_RESTORE_WORK_H_
#define KUBEXX_RELOADER_RESTORE_RESTORE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/restore/not_done.h"
#include "kubexx/reloader/restore/restore_standing.h"
#include "kubexx/reloader/restore/snapshot.h"
#include "kubexx/reloader/restore/source_store.h"

namespace kubexx::reloader {

/// Makes the requests for one source, or for the sources of one rollout. Keeps nothing between two
/// calls, so that it makes no difference which replica calls. Not thread-safe.
class RestoreWork {
 public:
  /// All must outlive this object. `ignore_annotation`: see SnapshotOf.
  RestoreWork(SourceStore& store, base::Clock& clock, std::string ignore_annotation)
      : store_(store), clock_(clock), ignore_annotation_(std::move(ignore_annotation)) {}

  /// Makes sure that the newest snapshot of the source has its data, which are good and have the
  /// digest `good`, and that there are no more than kMaxSnapshots. Writes nothing when the data are
  /// others by now, and none of an immutable source, whose data stay what they are. Returns
  /// std::nullopt when that is done.
  std::optional<NotDone> KeepSnapshot(const SourceId& source, const Digest& good,
                                      const std::stop_token& stop);

  /// What was put back into one source.
  struct Restored {
    SourceId source{};
    std::string uid{};
    Digest good{};
    Digest bad{};
    apimachinery::Time at{};  ///< when it was put back, in whole seconds
    bool is_new = true;       ///< false: an earlier call had restored it
    bool operator==(const Restored&) const = default;
  };
  /// Puts the last good data of all sources of the rollout back, or of none: only together they
  /// were good. Data are put back only over those that failed, and once for each; sources that have
  /// their last good data are left out. If it fails amid several, another call does the rest.
  std::variant<std::vector<Restored>, NotDone> Restore(const FailedRollout& failed,
                                                       const std::stop_token& stop);

  /// What was put back into the source last, whatever data it has now. std::nullopt: nothing was,
  /// or the source cannot be read.
  std::optional<Restored> PutBackInto(const SourceId& source, const std::stop_token& stop);

 private:
  /// What is to be written to restore a source.
  struct Step {
    SourceObject object;        ///< the source, as it was read
    SourceObject snapshot;      ///< the last good data
    apimachinery::Bytes key{};  ///< of snapshots
    Digest bad{};
    apimachinery::Time at{};  ///< of this restore, or with is_done of that one
    bool is_done = false;  ///< somebody has written it already, as an earlier call of this object
  };
  /// The snapshots of a source.
  struct Snapshots {
    std::vector<SourceObject> own{};  ///< newest first; see IsOwn
    std::size_t foreign = 0;          ///< so many others look like snapshots, which are left alone
    apimachinery::Bytes key{};        ///< empty: there is none, and so there are no snapshots
  };
  /// `make_key`: see SourceStore::Key.
  std::variant<Snapshots, NotDone> OwnSnapshots(const SourceObject& source, bool make_key,
                                                const std::stop_token& stop);
  std::variant<Step, NotDone> Prepare(const FailedSource& source, const std::stop_token& stop);
  /// Why the data may not be put back, according to the source and its snapshots.
  static std::optional<NotDone> WhyNot(const FailedSource& source, const SourceObject& object,
                                       const Snapshots& all);
  /// Restores one source.
  std::optional<NotDone> Write(Step& step, const std::stop_token& stop);
  /// Gives the keys that were put back to the tools that have to have them; see Appliers. Whatever
  /// keeps it from doing so changes nothing about the data.
  void HandBackTo(const SourceId& source, const SourceObject& snapshot,
                  const std::stop_token& stop);
  /// The same for a source that was restored by an earlier call, which may have ended before that.
  void HandBackLater(const SourceObject& source, const std::stop_token& stop);
  /// Deletes what is too many of `snapshots`, newest first, beside the one of the good data.
  std::optional<NotDone> Prune(const std::vector<SourceObject>& snapshots,
                               const std::stop_token& stop);
  /// Makes the snapshot of the data in `object` the newest, and takes it if there is none.
  std::optional<NotDone> Number(const Snapshots& all, const SourceObject& object,
                                const std::stop_token& stop);

  SourceStore& store_;
  base::Clock& clock_;
  const std::string ignore_annotation_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_RESTORE_WORK_H_
