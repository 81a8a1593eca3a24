/// @file
/// The write that rolls a workload.
#ifndef KUBEXX_RELOADER_PATCH_H_
#define KUBEXX_RELOADER_PATCH_H_

#include <string>
#include <vector>

#include "kubexx/reloader/planner.h"

namespace kubexx::reloader {

/// Field manager of every write, as stakater/Reloader's.
inline constexpr std::string_view kFieldManager = "Reloader";

/// The strategic merge patch that makes all `changes` at once, in the pod template's containers:
/// {"spec":{"template":{"spec":{"containers":[{"name":...,"env":[{"name":...,"value":...}]}]}}}}
std::string StrategicMergePatch(const std::vector<Change>& changes);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PATCH_H_
