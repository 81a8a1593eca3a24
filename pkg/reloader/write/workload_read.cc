#include <memory>
#include <optional>
#include <utility>

#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/job_content.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

Result<std::optional<Workload>> ReadWorkload(const std::shared_ptr<rest::RESTClient>& client,
                                             const AnnotationKeys& keys, const WorkloadId& id,
                                             const std::stop_token& stop) {
  const auto read = ResourceFor(client, id.kind, id.key.namespace_).Get(id.key.name, {}, stop);
  if (!read) {
    return apimachinery::IsObjectNotFound(read.error())
               ? Result<std::optional<Workload>>(std::nullopt)
               : apimachinery::Fail(read.error());
  }
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = read->ToJson(), .key = id.key};
  KX_RETURN_IF_ERROR(ProjectWorkload(id.kind, keys, object));
  KX_ASSIGN_OR_RETURN(Workload workload, WorkloadFrom(id.kind, object));
  workload.resource_version = read->ResourceVersion();
  if (id.kind == WorkloadKind::kJob) {
    workload.content = JobContentOf(*read);
  }
  return std::optional(std::move(workload));
}

}  // namespace

WorkloadRead NewWorkloadRead(std::shared_ptr<rest::RESTClient> client, AnnotationKeys keys) {
  return [client = std::move(client), keys = std::move(keys)](
             const WorkloadId& id, const std::stop_token& stop) -> Result<std::optional<Workload>> {
    KX_ASSIGN_OR_RETURN(std::optional<Workload> workload, ReadWorkload(client, keys, id, stop));
    if (workload && IsOfDeployment(*workload)) {
      const WorkloadId owner{WorkloadKind::kDeployment,
                             {id.key.namespace_, workload->template_ref->name}};
      KX_ASSIGN_OR_RETURN(auto deployment, ReadWorkload(client, keys, owner, stop));
      if (deployment) {
        TakeTemplateOf(*std::move(deployment), *workload);
      }
    }
    return workload;
  };
}

}  // namespace kubexx::reloader
