#include "kubexx/reloader/kubernetes_io.h"

#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/patch.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Result;

using Transform = std::function<Result<void>(cache::Object&)>;

template <class T>
std::shared_ptr<cache::SharedInformerBase> NewInformer(std::shared_ptr<rest::RESTClient> client,
                                                       const std::string& namespace_,
                                                       std::string label_selector,
                                                       Transform transform,
                                                       metrics::Registry* registry) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  return std::make_shared<cache::SharedInformer<T>>(
      cache::NewListWatchFromClient(std::move(client), resource, namespace_,
                                    {.label_selector = std::move(label_selector)}),
      cache::InformerOptions{.name = std::string(resource.plural),
                             .registry = registry,
                             .transform = std::move(transform)});
}

class RestPatcher final : public WorkloadPatcher {
 public:
  explicit RestPatcher(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  Result<void> Patch(const WorkloadId& workload, std::string_view patch,
                     std::stop_token stop) override {
    switch (workload.kind) {
      case WorkloadKind::kDeployment:
        return PatchAs<apps::Deployment>(workload.key, patch, std::move(stop));
      case WorkloadKind::kDaemonSet:
        return PatchAs<apps::DaemonSet>(workload.key, patch, std::move(stop));
      case WorkloadKind::kStatefulSet:
        return PatchAs<apps::StatefulSet>(workload.key, patch, std::move(stop));
    }
    return apimachinery::Fail(apimachinery::Reason::kInternalError, "unknown kind of workload");
  }

 private:
  template <class T>
  Result<void> PatchAs(const apimachinery::ObjectKey& key, std::string_view patch,
                       std::stop_token stop) {
    const kubernetes::ResourceClient<T> workloads(client_, key.namespace_);
    KX_RETURN_IF_ERROR(
        workloads.Patch(key.name, rest::PatchType::kStrategicMerge, std::string(patch),
                        {.field_manager = std::string(kFieldManager)}, std::move(stop)));
    return {};
  }

  std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace

InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                         const WatchSettings& settings) {
  InformerSet set;
  const auto add_source = [&]<class T>(SourceType type) {
    if (!settings.ignored_types.contains(type)) {
      set.sources[type] = NewInformer<T>(client, namespace_, settings.source_label_selector,
                                         TransformFor(type, settings.keys), settings.registry);
    }
  };
  const auto add_workload = [&]<class T>(WorkloadKind kind) {
    set.workloads[kind] = NewInformer<T>(client, namespace_, {}, TransformFor(kind, settings.keys),
                                         settings.registry);
  };
  add_source.operator()<core::ConfigMap>(SourceType::kConfigMap);
  add_source.operator()<core::Secret>(SourceType::kSecret);
  add_workload.operator()<apps::Deployment>(WorkloadKind::kDeployment);
  add_workload.operator()<apps::DaemonSet>(WorkloadKind::kDaemonSet);
  add_workload.operator()<apps::StatefulSet>(WorkloadKind::kStatefulSet);
  set.namespace_ = std::move(namespace_);
  return set;
}

std::unique_ptr<WorkloadPatcher> NewPatcher(std::shared_ptr<rest::RESTClient> client) {
  return std::make_unique<RestPatcher>(std::move(client));
}

}  // namespace kubexx::reloader
