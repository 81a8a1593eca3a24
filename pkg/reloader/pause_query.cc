#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/pause.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {

PauseQuery NewPauseQuery(std::shared_ptr<rest::RESTClient> client) {
  return [client = std::move(client)](const WorkloadId& id,
                                      const std::stop_token& stop) -> apimachinery::Result<bool> {
    const kubernetes::ResourceClient<api::apps::v1::Deployment> deployments(client,
                                                                            id.key.namespace_);
    KX_ASSIGN_OR_RETURN(const auto deployment, deployments.Get(id.key.name, stop));
    return deployment.spec.paused;
  };
}

}  // namespace kubexx::reloader
