/// @file
/// Earlier pod templates of a workload, some of whose pods may still run.
#ifndef KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
#define KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_

#include <cstdint>

#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// Stores that the present template has replaced `former`.
void AddFormer(Knowledge& known, Knowledge::Former former);

/// Whether pods of `former` may run with other data than pods that start at version `since` or
/// later.
bool HasOtherData(const Knowledge& known, const Knowledge::Former& former, std::uint64_t since);

/// The template went back, at version `since` or later, to an earlier one whose pods may still run
/// beside those that start now. Every source that does not have the same data in all these pods
/// counts as changed from now on, whatever data it has when it is compared. `former` is null when
/// nothing is known of the earlier template: then this applies to all sources.
void MixPods(Knowledge& known, const Knowledge::Former* former, std::uint64_t since);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
