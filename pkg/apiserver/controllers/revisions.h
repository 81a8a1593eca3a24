/// @file
/// The history of a workload's pod template as ControllerRevisions, which `kubectl rollout history`
/// and `undo` read.
#ifndef KUBEXX_APISERVER_CONTROLLERS_REVISIONS_H_
#define KUBEXX_APISERVER_CONTROLLERS_REVISIONS_H_

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/cache/decode.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {

using api::apps::v1::ControllerRevision;

/// The label of pods that names their revision.
inline constexpr const char* kRevisionLabel = "controller-revision-hash";

/// Makes the revision of `pod_template` for the workload `name`, without an owner reference and a
/// number.
ControllerRevision RevisionOf(const api::core::v1::PodTemplateSpec& pod_template,
                              const std::string& namespace_, const std::string& name);

/// The changes to make to a workload's revisions.
struct RevisionPlan {
  std::optional<ControllerRevision> create{};
  std::optional<ControllerRevision> update{};
  std::vector<std::string> remove{};
};
/// Plans the changes that make `wanted`, the revision of the current template, the newest one: the
/// revision to create or to update, and those to delete so that `limit` older ones stay. `known`
/// are the revisions that exist. Those in `live`, by their names or the values of kRevisionLabel,
/// stay and do not count.
RevisionPlan PlanRevisions(const std::vector<cache::Ref<ControllerRevision>>& known,
                           ControllerRevision wanted, std::size_t limit,
                           const std::set<std::string>& live);

/// The values of kRevisionLabel that the pods have.
std::set<std::string> RevisionsOfPods(const std::vector<PodRef>& pods);

/// The template of which `revision` was made. kMalformed when there is none in it.
apimachinery::Result<api::core::v1::PodTemplateSpec> TemplateOf(const ControllerRevision& revision);

/// Makes `workload`'s template its newest revision in the API, and deletes old ones. `known` are
/// the revisions of the workload; see PlanRevisions for `live`. Returns the name of the newest.
template <class T>
apimachinery::Result<std::string> WriteRevisions(
    const controller::Client& client, const std::vector<cache::Ref<ControllerRevision>>& known,
    const T& workload, const std::set<std::string>& live) {
  ControllerRevision wanted =
      RevisionOf(workload.spec.template_, workload.metadata.namespace_, workload.metadata.name);
  KX_RETURN_IF_ERROR(controller::SetControllerReference(workload, wanted));
  const std::string name = wanted.metadata.name;
  const auto limit =
      static_cast<std::size_t>(std::max(0, workload.spec.revision_history_limit.value_or(10)));
  const RevisionPlan plan = PlanRevisions(known, std::move(wanted), limit, live);
  if (plan.create) {
    KX_RETURN_IF_ERROR(client.Create(*plan.create));
  }
  if (plan.update) {
    KX_RETURN_IF_ERROR(client.Update(*plan.update));
  }
  for (const std::string& each : plan.remove) {
    const auto deleted =
        client.template Delete<ControllerRevision>({workload.metadata.namespace_, each});
    if (!deleted && deleted.error().reason != apimachinery::Reason::kNotFound) {
      return apimachinery::Fail(deleted.error());
    }
  }
  return name;
}

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_REVISIONS_H_
