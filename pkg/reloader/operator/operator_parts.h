/// @file
/// What a process makes an operator of, as far as the settings say it.
#ifndef KUBEXX_RELOADER_OPERATOR_OPERATOR_PARTS_H_
#define KUBEXX_RELOADER_OPERATOR_OPERATOR_PARTS_H_

#include <memory>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/policy/policies.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// `connection` with what the settings say of requests, and the name of the program.
rest::Config ConnectionFor(const Config& config, rest::Config connection, const char* version);

/// What all that watches in one operator shares. `refusals` and `registry` must outlive it.
struct WatchParts {
  std::shared_ptr<Fallbacks> fallbacks{};
  Refusals& refusals;
  /// So that all who wait for an API share one question. Null: the informers and the policies each
  /// have their own.
  std::shared_ptr<ServedApis> served{};
  metrics::Registry& registry;
  /// Runs what informers do; see cache::InformerOptions::executor.
  std::shared_ptr<base::Executor> executor{};
};

/// The informers of an operator so configured.
std::vector<InformerSet> InformersFor(const Config& config,
                                      const std::shared_ptr<rest::RESTClient>& client,
                                      const WatchParts& parts);

/// The options of an operator so configured, whose questions `client` answers. Observers, the
/// rollout gate and the namespace selector are the process's, and are not set. `registry` must
/// outlive the operator.
Operator::Options OperatorOptionsFor(const Config& config,
                                     const std::shared_ptr<rest::RESTClient>& client,
                                     metrics::Registry& registry);

/// The options of the policies beside an operator so configured. What they tell others, and whose
/// status is written, is the process's, and is not set.
Policies::Options PolicyOptionsFor(const Config& config, const WatchParts& parts);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_OPERATOR_PARTS_H_
