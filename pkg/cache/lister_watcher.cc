#include "kubexx/cache/lister_watcher.h"

#include <utility>

namespace kubexx::cache {

using apimachinery::Result;

Result<std::unique_ptr<OpenWatch>> ListerWatcher::StartWatch(
    const apimachinery::ListOptions& /*options*/, std::stop_token /*stop*/) {
  return apimachinery::Fail(apimachinery::Reason::kInternalError,
                            "this source can only be watched by a thread that waits");
}

// Without a version in the request, the server answers with its most recent one.
Result<std::string> ListerWatcher::CurrentVersion(std::stop_token stop) {
  const auto leave = [](Object&&) -> Result<void> { return {}; };
  KX_ASSIGN_OR_RETURN(codec::ListMeta meta, List({.limit = 1}, leave, std::move(stop)));
  return std::move(meta.resource_version);
}

}  // namespace kubexx::cache
