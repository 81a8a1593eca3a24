/// @file
/// Watches and reads the operator's objects at a real API server.
#ifndef KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_
#define KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_keys.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// What the operator watches.
struct WatchSettings {
  AnnotationKeys keys{};
  /// Label selector in the requests for sources; empty: all sources.
  std::string source_label_selector{};
  /// Types that are not watched.
  std::set<SourceType> ignored_types{SourceType::kSecretProviderClass};
  /// The described kinds to watch as sources, such as "Certificate", of those that the process
  /// knows.
  std::vector<std::string> source_kinds{};
  /// How much the informers keep of ConfigMaps, Secrets and objects of described kinds.
  SourceDetail source_detail = SourceDetail::kDigest;
  /// Kinds to watch. Kinds that the server does not have, or does not permit to list, are tried
  /// again from time to time.
  std::set<WorkloadKind> kinds{kWorkloadKinds.begin(), kWorkloadKinds.end()};
  metrics::Registry* registry = nullptr;
  /// Informed of what the server refuses. Null: NewInformers creates one.
  std::shared_ptr<Fallbacks> fallbacks{};
  /// Follows the lists and watches of sources; must outlive the informers. Null: nobody does.
  Refusals* refusals = nullptr;
  /// Knows which APIs the server has. Null: NewInformers makes one.
  std::shared_ptr<ServedApis> served{};
  /// Runs what the informers do; see cache::InformerOptions::executor. Null: NewInformers makes one
  /// for them.
  std::shared_ptr<base::Executor> executor{};
};

/// Creates the informers of the given namespaces, or of all if there are none: one informer per
/// kind, which covers all of them. They store projections, and do not run yet.
InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client,
                         const std::vector<std::string>& namespaces, WatchSettings settings);
/// Does the same for one namespace, or for all when `namespace_` is empty.
InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                         const WatchSettings& settings);

/// Reads one ConfigMap, Secret or object of a described kind. Uses a list with a field selector for
/// the name, because the operator needs only the right to list then.
ValueDigestReader::Fetch NewValueFetch(std::shared_ptr<rest::RESTClient> client);

/// Asks for the metadata of such an object, by a list with its name.
SourceExists NewSourceQuery(std::shared_ptr<rest::RESTClient> client);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_KUBERNETES_IO_H_
