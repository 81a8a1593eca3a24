#include "kubexx/controller/cluster.h"

#include <utility>

#include "kubexx/controller/internal/recorders.h"

namespace kubexx::controller {
namespace {

Client::Parts PartsOfClient(const Cluster::Parts& cluster) {
  informers::FactoryOptions cache = cluster.options.cache;
  return {.rest = cluster.client,
          .caches = std::make_shared<informers::SharedInformerFactory>(
              cluster.client,
              informers::FactoryOptions{
                  .namespace_ = std::move(cache.namespace_),
                  .clock = cluster.clock,
                  .registry = &cluster.registry,
                  .resync_period = cache.resync_period,
                  .list_watch = std::move(cache.list_watch),
                  .tweak = std::move(cache.tweak),
                  .transform = std::move(cache.transform),
                  .namespaces = std::move(cache.namespaces),
                  .index_namespaces = cache.index_namespaces,
                  .tuning = cache.tuning,
                  .by_type = std::move(cache.by_type),
                  .executor = std::move(cache.executor),
                  .name = cluster.name.empty() ? std::move(cache.name) : cluster.name}),
          .first_read_timeout = cluster.options.first_read_timeout,
          .write_defaults = cluster.options.write_defaults.value_or(kubernetes::WriteDefaults()),
          .cluster = cluster.name};
}

}  // namespace

Cluster::Cluster(Parts parts)
    : name_(parts.name),
      parts_(PartsOfClient(parts)),
      recorders_(std::make_unique<internal::Recorders>(
          parts.events ? std::move(parts.events) : parts.client, parts.clock, parts.registry)) {}

Cluster::~Cluster() = default;

std::shared_ptr<events::Recorder> Cluster::EventRecorderFor(const std::string& component) const {
  return recorders_->For(component);
}

Client Cluster::NewClient(std::stop_token stop) const {
  return Client(parts_).WithStop(std::move(stop));
}

Client Client::In(const Cluster& cluster) const {
  Parts parts = cluster.ClientParts();
  parts.writes = parts_.writes;
  parts.owner = parts_.owner;
  parts.stop = parts_.stop;
  parts.read_early = parts_.read_early;
  parts.only_dry_run = parts_.only_dry_run;
  parts.write_defaults.dry_run = parts.write_defaults.dry_run || parts.only_dry_run;
  return Client(std::move(parts));
}

}  // namespace kubexx::controller
