#include "running_operator.h"

#include <optional>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx {
namespace {

using apimachinery::Result;

/// What is left of an operator that is gone does not count; one that cannot be looked at does.
bool IsGone(const std::shared_ptr<rest::RESTClient>& client,
            const apimachinery::ObjectKey& deployment, const std::stop_token& stop) {
  if (deployment.name.empty()) {
    return false;
  }
  const kubernetes::ResourceClient<api::apps::v1::Deployment> deployments(client,
                                                                          deployment.namespace_);
  const auto found = deployments.Get(deployment.name, stop);
  return !found && apimachinery::IsObjectNotFound(found.error());
}

}  // namespace

Result<FoundOperators> FindOperators(const std::shared_ptr<rest::RESTClient>& client,
                                     const std::string& namespace_, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::ConfigMap> config_maps(client, namespace_);
  apimachinery::ListOptions options;
  options.label_selector = reloader::kMetaInfoSelector;
  KX_ASSIGN_OR_RETURN(const auto list, config_maps.List(options, stop));
  FoundOperators operators;
  for (const api::core::v1::ConfigMap& each : list.items) {
    auto told = each.metadata.name == reloader::kMetaInfoName
                    ? reloader::ToldBy(each)
                    : std::optional<reloader::ToldOperator>();
    if (told && IsGone(client, told->deployment, stop)) {
      operators.gone.push_back(told->deployment);
    } else if (told) {
      operators.running.push_back(*std::move(told));
    }
  }
  return operators;
}

Result<apimachinery::LabelMap> LabelsOf(const std::shared_ptr<rest::RESTClient>& client,
                                        const std::string& name, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::Namespace> namespaces(client, "");
  KX_ASSIGN_OR_RETURN(const api::core::v1::Namespace found, namespaces.Get(name, stop));
  return apimachinery::LabelMap(found.metadata.labels.begin(), found.metadata.labels.end());
}

}  // namespace kubexx
