/// @file
/// Which tools keep which keys of a source, so that a restore takes nothing away from them.
#ifndef KUBEXX_RELOADER_RESTORE_APPLIERS_H_
#define KUBEXX_RELOADER_RESTORE_APPLIERS_H_

#include <map>
#include <set>
#include <string>

#include "kubexx/reloader/restore/source_object.h"

namespace kubexx::reloader {

/// On a snapshot: the Appliers of the source, as JSON.
inline constexpr char kSnapshotAppliers[] = "reloader.kubexx.io/snapshot-appliers";

/// In it `kubectl apply` without --server-side keeps what it has applied; it stands for that tool
/// in Appliers.
inline constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

/// The keys of the data that tools keep which describe the whole object: by the field manager that
/// applies it. Such a tool removes a key that it leaves out later, if it has kept the key before.
/// So whoever puts a removed key back has to give it back to its tool, or nobody ever removes it.
using Appliers = std::map<std::string, std::set<std::string>>;

/// Those of the object, according to its managed fields and to kLastApplied.
Appliers AppliersOf(const SourceObject& object);

/// Reads kSnapshotAppliers; empty when it is missing or malformed.
Appliers AppliersIn(const SourceObject& snapshot);
/// Writes it. Writes none where it would be too long. The snapshot has to be sealed anew.
void SetAppliers(SourceObject& snapshot, const Appliers& appliers);

/// Who has to have the keys when the data of `recorded` are put back in place of those that
/// `present` keep: a tool that keeps a key now keeps it on, and the other keys are as recorded.
Appliers AppliersAfter(const Appliers& recorded, const Appliers& present);

/// Gives the keys that kRestoreFieldManager owns to those who have to have them, in the managed
/// fields. It has to be written by itself, after the data: the API server gives what a write
/// changes to its writer. Returns whether anything is to be written.
bool HandBack(SourceObject& object, const Appliers& appliers);
/// Whether kRestoreFieldManager owns keys.
bool OwnsKeys(const SourceObject& object);

/// Adds to kLastApplied, where the object has it, those of its keys that `kubectl apply` has to
/// keep. Does nothing where that would become too long for an annotation.
void AddToLastApplied(SourceObject& object, const Appliers& appliers);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_APPLIERS_H_
