/// @file
/// The annotation with which a workload names sources of described kinds.
#ifndef KUBEXX_RELOADER_PLAN_RELOAD_ON_H_
#define KUBEXX_RELOADER_PLAN_RELOAD_ON_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/pattern_list.h"

namespace kubexx::reloader {

/// So many wrong items of a value are told of one by one: whoever may write a workload chooses the
/// text, and each is a line of the log and an Event.
inline constexpr std::size_t kMaxShownBadItems = 10;

/// The names and patterns in a value of kReloadOn as a reload list for each described type that has
/// some. A kind is named in the singular or in the plural, in any case.
std::map<SourceType, std::string> ReloadListsIn(std::string_view reload_on);

/// The list of the described type among ReloadListsIn; std::nullopt when there is none.
std::optional<std::string> ReloadListIn(std::string_view reload_on, SourceType type);

/// What is wrong with a value of kReloadOn: items that name no kind or no object, and kinds that
/// nobody has described, or for which `ignores` is true. Beyond kMaxShownBadItems there is one more
/// that says how many are left.
std::vector<BadItem> BadItemsIn(std::string_view reload_on,
                                base::FunctionRef<bool(SourceType)> ignores);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_RELOAD_ON_H_
