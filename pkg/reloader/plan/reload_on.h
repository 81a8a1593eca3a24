/// @file
/// The annotation with which a workload names sources of described kinds.
#ifndef KUBEXX_RELOADER_PLAN_RELOAD_ON_H_
#define KUBEXX_RELOADER_PLAN_RELOAD_ON_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/pattern_list.h"

namespace kubexx::reloader {

/// The names and patterns in a value of kReloadOn that are of the described type, as a reload list
/// has them; std::nullopt when there are none. A kind is named in the singular or in the plural, in
/// any case.
std::optional<std::string> ReloadListIn(std::string_view reload_on, SourceType type);

/// What is wrong with a value of kReloadOn: items that name no kind or no object, and kinds that
/// nobody has described, or for which `ignores` is true.
std::vector<BadItem> BadItemsIn(std::string_view reload_on,
                                base::FunctionRef<bool(SourceType)> ignores);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_RELOAD_ON_H_
