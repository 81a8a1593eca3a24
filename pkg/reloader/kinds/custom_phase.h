/// @file
/// How far the rollout of a custom kind is.
#ifndef KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_
#define KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// Whether the rule holds for the object. A field that is not there counts as a number 0 and as
/// false, which controllers leave out. Two fields that are not there are the same. A condition that
/// tells of an earlier generation of the object (its observedGeneration) does not hold.
bool Holds(const StatusRule& rule, const codec::JsonTree& object);

/// The phase of an object of the kind, which is as the API server has it. kFailed when a rule for
/// that holds; kUpdating while a rule for the end does not. kUnseen while the status is about an
/// earlier rollout: status.observedGeneration is behind metadata.generation; or, where there is
/// none and the kind has rules, there is no status yet, or the managed fields tell that it was
/// written last before the pod template was. Never kUnavailable or kPaused.
reloadpolicy::Phase PhaseOfCustom(const CustomKind& kind, const codec::JsonTree& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_CUSTOM_PHASE_H_
