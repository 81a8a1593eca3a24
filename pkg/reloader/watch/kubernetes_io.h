/// @file
/// What the operator watches and reads at a real API server.
#ifndef KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_
#define KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_keys.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Whether the server has the resource's API; asked of discovery, which everyone may read, since a
/// list of what does not exist is refused before it is not found.
apimachinery::Result<bool> IsServed(const std::shared_ptr<rest::RESTClient>& client,
                                    const apimachinery::ResourceInfo& resource,
                                    const std::stop_token& stop);

/// What the operator watches.
struct WatchSettings {
  AnnotationKeys keys{};
  /// Sent with the requests for sources; empty for all of them.
  std::string source_label_selector{};
  /// Types that are not watched at all.
  std::set<SourceType> ignored_types{SourceType::kSecretProviderClass};
  /// Kinds to watch. Those that the server does not have, or does not let us list, are asked for
  /// again now and then.
  std::set<WorkloadKind> kinds{kWorkloadKinds.begin(), kWorkloadKinds.end()};
  metrics::Registry* registry = nullptr;
  /// Told of what is refused; made by NewInformers when null.
  std::shared_ptr<Fallbacks> fallbacks{};
  /// Follows the sources; must outlive the informers. Null: nobody does.
  Refusals* refusals = nullptr;
};

/// Informers of some namespaces, one a kind over all of these, or of all when there are none:
/// projecting, not yet running.
InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client,
                         const std::vector<std::string>& namespaces, const WatchSettings& settings);
/// The same for one namespace, or all when `namespace_` is empty.
InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                         const WatchSettings& settings);

/// Reads one ConfigMap or Secret, by a list with its name, for which the right to list is enough.
ValueDigestReader::Fetch NewValueFetch(std::shared_ptr<rest::RESTClient> client);

/// Asks for a ConfigMap's or Secret's metadata, by a list with its name.
SourceExists NewSourceQuery(std::shared_ptr<rest::RESTClient> client);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_
