/// @file
/// Snapshots: immutable copies of data that a source had when they were good.
#ifndef KUBEXX_RELOADER_RESTORE_SNAPSHOT_H_
#define KUBEXX_RELOADER_RESTORE_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/restore/source_object.h"

namespace kubexx::reloader {

/// A label of a snapshot: the uid of the source.
inline constexpr char kSnapshotOf[] = "reloader.kubexx.io/snapshot-of";
/// On a snapshot: the kind and name of the source, for people.
inline constexpr char kSnapshotSource[] = "reloader.kubexx.io/snapshot-source";
/// On a snapshot: the digest of the data.
inline constexpr char kSnapshotDigest[] = "reloader.kubexx.io/snapshot-digest";
/// On a snapshot: a number. The snapshot with the highest one has the data that were good last.
inline constexpr char kSnapshotNumber[] = "reloader.kubexx.io/snapshot-number";
/// On a snapshot: the data that were replaced by snapshots of the source, as
/// "<digest>@<resource version>", separated by spaces. The version is the source's, when it had
/// these data. It is written before the source is, so no data are replaced twice.
inline constexpr char kSnapshotReplaced[] = "reloader.kubexx.io/snapshot-replaced";

/// On a snapshot: a code over all that counts of it, which nobody can compute without the key of
/// snapshots. See IsOwn.
inline constexpr char kSnapshotSeal[] = "reloader.kubexx.io/snapshot-seal";

/// So many snapshots of a source are kept.
inline constexpr std::size_t kMaxSnapshots = 2;
/// A snapshot remembers so many data that were replaced, the latest.
inline constexpr std::size_t kMaxReplaced = 32;

/// Data that were to be replaced. A value type.
struct ReplacedData {
  Digest bad{};
  std::string version{};  ///< the source's resource version with these data
  bool operator==(const ReplacedData&) const = default;
};

/// Reads kSnapshotReplaced. Skips what cannot be read.
std::vector<ReplacedData> ReplacedIn(const SourceObject& snapshot);
/// Writes kSnapshotReplaced; of more than kMaxReplaced the first are left out. Removes the
/// annotation when there are none. The snapshot has to be sealed anew.
void SetReplaced(SourceObject& snapshot, std::span<const ReplacedData> replaced);
/// What all of these snapshots remember, each once, in the order of their numbers.
std::vector<ReplacedData> ReplacedInAll(std::span<const SourceObject> snapshots);

/// The source whose snapshot an object is, by its name. std::nullopt: it has not the name of a
/// snapshot, or that is so long that it does not name the source.
std::optional<SourceId> SourceOfSnapshot(const SourceId& object);

/// The number of a snapshot; 0: it has none.
std::int64_t NumberOf(const SourceObject& snapshot);
/// Makes the seal that the snapshot has to have, as it is now. `key` is the key of snapshots.
void Seal(SourceObject& snapshot, const apimachinery::Bytes& key);
/// Whether the operator has made the object as a snapshot of the source with this uid, and nobody
/// has tampered with it. Whoever may create objects may give them each label, owner and field
/// manager, so nothing but the seal tells; it is over the name, too, so that a copy is not a
/// snapshot.
bool IsOwn(const SourceObject& object, const std::string& uid, const apimachinery::Bytes& key);
/// Puts the snapshots with the highest numbers first.
void SortNewestFirst(std::vector<SourceObject>& snapshots);

/// The snapshot to create of `source`, which has just been read: immutable, owned by the source, so
/// that the cluster removes it with the source, with the annotation `ignore_annotation`, so that it
/// rolls nothing, and sealed. The name follows from the source's uid and data and the key of
/// snapshots, and is therefore the same for whoever takes it.
SourceObject SnapshotOf(const SourceObject& source, std::int64_t number,
                        const std::string& ignore_annotation, const apimachinery::Bytes& key);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_SNAPSHOT_H_
