#include "kubexx/reloader/kubernetes_io.h"

#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/patch.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Result;

class RestWriter final : public WorkloadWriter {
 public:
  explicit RestWriter(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                             std::stop_token stop) override {
    KX_RETURN_IF_ERROR(Patch(workload, StrategicMergePatch(write), std::move(stop)));
    return WriteOutcome{.rolled = write.Rolls()};
  }

 private:
  Result<void> Patch(const WorkloadId& workload, std::string_view patch, std::stop_token stop) {
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
  const auto factory = std::make_shared<informers::SharedInformerFactory>(
      std::move(client),
      informers::FactoryOptions{.namespace_ = namespace_,
                                .registry = settings.registry,
                                .tweak = [selector = settings.source_label_selector](
                                             const apimachinery::ResourceInfo& resource,
                                             cache::ListWatchOptions& options) {
                                  if (resource.group.empty()) {  // core: ConfigMaps and Secrets
                                    options.label_selector = selector;
                                  }
                                }});
  InformerSet set{.namespace_ = std::move(namespace_), .owner = factory};
  const auto add_source = [&]<class T>(SourceType type) {
    if (!settings.ignored_types.contains(type)) {
      set.sources[type] = factory->InformerFor<T>({.transform = TransformFor(type, settings.keys)});
    }
  };
  const auto add_workload = [&]<class T>(WorkloadKind kind) {
    set.workloads[kind] = factory->InformerFor<T>({.transform = TransformFor(kind, settings.keys)});
  };
  add_source.operator()<core::ConfigMap>(SourceType::kConfigMap);
  add_source.operator()<core::Secret>(SourceType::kSecret);
  add_workload.operator()<apps::Deployment>(WorkloadKind::kDeployment);
  add_workload.operator()<apps::DaemonSet>(WorkloadKind::kDaemonSet);
  add_workload.operator()<apps::StatefulSet>(WorkloadKind::kStatefulSet);
  return set;
}

std::unique_ptr<WorkloadWriter> NewWriter(std::shared_ptr<rest::RESTClient> client) {
  return std::make_unique<RestWriter>(std::move(client));
}

}  // namespace kubexx::reloader
