/// @file
/// Pod templates from before, some of whose pods are alive.
#ifndef KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
#define KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_

#include <cstdint>

#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// The present template has taken the place of `former`.
void AddFormer(Knowledge& known, Knowledge::Former former);

/// Whether pods of `former` may have other data than those that begin at `since` or later.
bool HasOtherData(const Knowledge& known, const Knowledge::Former& former, std::uint64_t since);

/// The template went back, at `since` or later, to one whose pods live on beside those that begin
/// now: a source of which not all of them have the same counts as changed, whatever it has by the
/// time that it is compared. `former`: null when nothing is known of the template, so that this is
/// so of all sources.
void MixPods(Knowledge& known, const Knowledge::Former* former, std::uint64_t since);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FORMER_TEMPLATES_H_
