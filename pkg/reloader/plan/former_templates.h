/// @file
/// Earlier pod templates of a workload, some of whose pods may still run.
#ifndef KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
#define KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_

#include <cstdint>

#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// Stores that the present template has replaced `former`.
void AddFormer(Knowledge& known, Knowledge::Former former);

/// The resource versions between which pods began: at `since` or later, and at `until` or earlier.
/// 0: not known.
struct VersionsOfBegin {
  std::uint64_t since = 0;
  std::uint64_t until = 0;
};

/// Whether pods of `former` may run with other data than the pods that began at `begin`.
bool HasOtherData(const Knowledge& known, const Knowledge::Former& former,
                  const VersionsOfBegin& begin);

/// The template went back at `begin` to an earlier one whose pods may still run beside those that
/// began then. Every source that may not have the same data in all these pods counts as changed
/// from now on, whatever data it has when it is compared. `former` is null when nothing is known of
/// the earlier template: then this applies to all sources.
void MixPods(Knowledge& known, const Knowledge::Former* former, const VersionsOfBegin& begin);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
