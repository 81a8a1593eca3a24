#include <algorithm>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/write/patch.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {

bool IsPausedByOthers(const api::meta::v1::ObjectMeta& metadata) {
  return std::ranges::any_of(metadata.managed_fields,
                             [](const api::meta::v1::ManagedFieldsEntry& entry) {
                               if (IsOfOperator(entry) || !entry.fields_v1) {
                                 return false;
                               }
                               const auto fields = codec::JsonTree::Parse(entry.fields_v1->raw);
                               return fields && fields->At({"f:spec", "f:paused"}) != nullptr;
                             });
}

PauseQuery NewPauseQuery(std::shared_ptr<rest::RESTClient> client) {
  return
      [client = std::move(client)](
          const WorkloadId& id, const std::stop_token& stop) -> apimachinery::Result<PauseState> {
        const kubernetes::ResourceClient<api::apps::v1::Deployment> deployments(client,
                                                                                id.key.namespace_);
        KX_ASSIGN_OR_RETURN(auto deployment, deployments.Get(id.key.name, stop));
        api::meta::v1::ObjectMeta& metadata = deployment.metadata;
        const bool by_others = IsPausedByOthers(metadata);
        return PauseState{.paused = deployment.spec.paused,
                          .by_others = by_others,
                          .annotations = std::move(metadata.annotations),
                          .resource_version = std::move(metadata.resource_version)};
      };
}

}  // namespace kubexx::reloader
