#include "running_operator.h"

#include <optional>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/api/coordination/v1/schema.gen.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/ha/leadership.h"
#include "kubexx/reloader/notify/webhook_record.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
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

/// Deletes an object, unless it is only to be told of; success as well when there is none.
template <class T>
Result<void> DeleteIfThere(const kubernetes::ResourceClient<T>& client, const std::string& name,
                           bool dry_run, const std::stop_token& stop) {
  const auto done = dry_run ? Result<void>() : client.Delete(name, {}, stop);
  return done || apimachinery::IsObjectNotFound(done.error()) ? Result<void>() : done;
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

Result<void> CleanUpOwn(const std::shared_ptr<rest::RESTClient>& client,
                        const std::string& namespace_, bool dry_run,
                        base::FunctionRef<void(const std::string& object)> tell,
                        const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::ConfigMap> config_maps(client, namespace_);
  for (const std::string& name :
       {std::string(reloader::kMetaInfoName), std::string(reloader::kWebhookRecordName)}) {
    const auto found = config_maps.Get(name, stop);
    if (!found && apimachinery::IsObjectNotFound(found.error())) {
      continue;
    }
    KX_RETURN_IF_ERROR(found);
    KX_RETURN_IF_ERROR(DeleteIfThere(config_maps, name, dry_run, stop));
    tell("ConfigMap " + namespace_ + "/" + name);
  }
  const kubernetes::ResourceClient<api::coordination::v1::Lease> leases(client, namespace_);
  KX_ASSIGN_OR_RETURN(const auto list, leases.List({}, stop));
  for (const api::coordination::v1::Lease& lease : list.items) {
    if (lease.metadata.name.starts_with(reloader::kLeaseName)) {
      KX_RETURN_IF_ERROR(DeleteIfThere(leases, lease.metadata.name, dry_run, stop));
      tell("Lease " + namespace_ + "/" + lease.metadata.name);
    }
  }
  return {};
}

Result<void> CheckReachable(const std::shared_ptr<rest::RESTClient>& client,
                            const std::stop_token& stop) {
  const auto answered = client->Get().AbsPath("/version").MaxRetries(0).Do(stop);
  return answered || answered.error().code != 0
             ? Result<void>()
             : Fail(answered.error().WithContext("the cluster cannot be reached"));
}

Result<apimachinery::LabelMap> LabelsOf(const std::shared_ptr<rest::RESTClient>& client,
                                        const std::string& name, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::Namespace> namespaces(client, "");
  KX_ASSIGN_OR_RETURN(const api::core::v1::Namespace found, namespaces.Get(name, stop));
  return apimachinery::LabelMap(found.metadata.labels.begin(), found.metadata.labels.end());
}

}  // namespace kubexx
