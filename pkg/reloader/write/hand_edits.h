/// @file
/// What a person may write by hand to steer rollouts: the edits of `kubectl reloader pause`,
/// `resume` and `retry`.
#ifndef KUBEXX_RELOADER_WRITE_HAND_EDITS_H_
#define KUBEXX_RELOADER_WRITE_HAND_EDITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/kinds/custom_kind.h"

namespace kubexx::reloader {

/// The field manager of these edits. It is not the operator's, whose writes mean that a rollout was
/// made, and none that the operator takes for an undo.
inline constexpr char kHandFieldManager[] = "kubectl-reloader";

enum class HandEdit : std::uint8_t {
  kPause,   ///< of a workload, a source or a policy: holds its rollouts back
  kResume,  ///< the inverse of kPause
  kRetry,   ///< of a workload whose rollout has failed: makes its pods anew
  kMended,  ///< of the same: says that the failure is mended
};

/// A JSON merge patch, and what it does.
struct HandChange {
  std::string patch{};  ///< empty: there is nothing to change
  std::string told{};   ///< a clause for people, such as "paused"
  /// What the object has to have after the patch, or else nothing has happened. Empty: anything.
  FieldPath wanted{};
  bool operator==(const HandChange&) const = default;
};

/// Whether objects of this kind (such as "Deployment") can be paused: workloads, sources and
/// policies.
bool CanBePaused(std::string_view kind);

/// Computes what `edit` changes on `object`, which is of the kind `kind` and as the API server has
/// it. The patch names the object's UID, so the API server refuses it for another object of the
/// same name. Fails with kInvalidConfig, and a message that says why, when the edit does not apply
/// to the object. Pure.
apimachinery::Result<HandChange> HandChangeOf(HandEdit edit, std::string_view kind,
                                              const dynamic::Unstructured& object,
                                              base::WallTime now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_HAND_EDITS_H_
