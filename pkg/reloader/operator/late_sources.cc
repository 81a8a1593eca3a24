#include "kubexx/reloader/operator/late_sources.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

LateSources::Found LateSources::Look() {
  Found found;
  {
    const base::MutexLock lock(mu_);
    std::set<SourceSpace> unknown = caches_.UnknownSpaces();
    std::ranges::set_difference(late_, unknown, std::inserter(found.known, found.known.end()));
    found.some_are_late = !unknown.empty();
    late_ = std::move(unknown);
  }
  for (const SourceSpace& space : found.known) {
    logging::Info("The operator can read sources that it could not read before",
                  {{"resource", NamesOf(space.type).plural}, {"namespace", space.namespace_}});
  }
  return found;
}

}  // namespace kubexx::reloader
