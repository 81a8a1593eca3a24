#include "kubexx/reloader/operator/operator_parts.h"

#include <chrono>
#include <string>
#include <utility>

#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/pause.h"

namespace kubexx::reloader {

rest::Config ConnectionFor(const Config& config, rest::Config connection, const char* version) {
  connection.qps = config.qps;
  connection.burst = config.burst;
  connection.user_agent = std::string("kubexx-reloader/") + version;
  connection.timeout = std::chrono::seconds(30);
  return connection;
}

std::vector<InformerSet> InformersFor(const Config& config,
                                      const std::shared_ptr<rest::RESTClient>& client,
                                      const WatchParts& parts) {
  const WatchSettings settings{
      .keys = config.rules.keys,
      .source_label_selector = config.source_label_selector,
      .ignored_types = config.ignored_types,
      .source_kinds = config.rules.source_kinds,
      .source_detail = config.history > 0 ? SourceDetail::kWithKeys : SourceDetail::kDigest,
      .kinds = WatchedKinds(config),
      .registry = &parts.registry,
      .fallbacks = parts.fallbacks,
      .refusals = &parts.refusals,
      .served = parts.served,
      .executor = parts.executor};
  std::vector<InformerSet> informers;
  informers.push_back(NewInformers(client, config.namespaces, settings));
  return informers;
}

Operator::Options OperatorOptionsFor(const Config& config,
                                     const std::shared_ptr<rest::RESTClient>& client,
                                     metrics::Registry& registry) {
  Operator::Options options;
  options.rules = config.rules;
  options.strategy = config.reload_strategy;
  options.record_baselines = config.dry_run || !config.record_baseline ? BaselineRecording::kNever
                                                                       : BaselineRecording::kAlways;
  options.ignored_namespaces = config.ignored_namespaces;
  options.settle_window = config.settle_window;
  options.release_window = config.release_window;
  options.workers = config.workers;
  options.registry = &registry;
  options.history = static_cast<std::size_t>(config.history);
  options.count_by_namespace = config.count_by_namespace;
  options.pause_query = NewPauseQuery(client);
  options.fetch_values = NewValueFetch(client);
  options.read_workload = NewWorkloadRead(client, config.rules.keys);
  options.source_exists = NewSourceQuery(client);
  options.selects_sources = !config.source_label_selector.empty();
  return options;
}

Policies::Options PolicyOptionsFor(const Config& config, const WatchParts& parts) {
  Policies::Options options;
  options.flags = config.rollouts;
  options.watch = config.reload_policies;
  options.namespaces = config.namespaces;
  options.cluster_needed = config.require_cluster_policies;
  options.registry = &parts.registry;
  options.refusals = &parts.refusals;
  options.served = parts.served;
  options.executor = parts.executor;
  options.read_only = config.dry_run;
  options.allow_restore = config.allow_restore;
  options.own_namespace = config.meta_info.namespace_;
  options.ignore_annotation = config.rules.keys.ignore;
  return options;
}

}  // namespace kubexx::reloader
