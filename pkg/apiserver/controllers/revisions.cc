#include "kubexx/apiserver/controllers/revisions.h"

#include <utility>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::controllers {

ControllerRevision RevisionOf(const PodTemplateSpec& pod_template, const std::string& namespace_,
                              const std::string& name) {
  const std::string hash = TemplateHash(pod_template);
  ControllerRevision revision;
  revision.metadata.name = name + "-" + hash;
  revision.metadata.namespace_ = namespace_;
  revision.metadata.labels = pod_template.metadata.labels;
  revision.metadata.labels[kRevisionLabel] = hash;
  // The revision holds a patch, which `kubectl rollout undo` sends unchanged.
  auto body = codec::JsonTree::Parse(codec::EncodeJson(pod_template));
  codec::JsonTree data = codec::JsonTree::Object();
  data["spec"]["template"] = body ? std::move(*body) : codec::JsonTree::Object();
  data["spec"]["template"]["$patch"] = "replace";
  revision.data.raw = data.ToJson();
  return revision;
}

RevisionPlan PlanRevisions(const std::vector<cache::Ref<ControllerRevision>>& known,
                           ControllerRevision wanted, std::size_t limit,
                           const std::set<std::string>& live) {
  RevisionPlan plan;
  std::vector<const ControllerRevision*> old;
  const ControllerRevision* current = nullptr;
  std::int64_t highest = 0;
  for (const cache::Ref<ControllerRevision>& each : known) {
    if (each->metadata.name == wanted.metadata.name) {
      current = each.get();
    } else {
      highest = std::max(highest, each->revision);
      const auto hash = each->metadata.labels.find(kRevisionLabel);
      const bool is_live = live.contains(each->metadata.name) ||
                           (hash != each->metadata.labels.end() && live.contains(hash->second));
      if (!is_live) {
        old.push_back(each.get());
      }
    }
  }
  if (current == nullptr) {
    wanted.revision = highest + 1;
    plan.create = std::move(wanted);
  } else if (current->revision <= highest) {
    plan.update = *current;
    plan.update->revision = highest + 1;
  }
  std::ranges::sort(old, {}, &ControllerRevision::revision);
  for (std::size_t i = 0; i + limit < old.size(); ++i) {
    plan.remove.push_back(old[i]->metadata.name);
  }
  return plan;
}

std::set<std::string> RevisionsOfPods(const std::vector<PodRef>& pods) {
  std::set<std::string> revisions;
  for (const PodRef& pod : pods) {
    const auto found = pod->metadata.labels.find(kRevisionLabel);
    if (found != pod->metadata.labels.end()) {
      revisions.insert(found->second);
    }
  }
  return revisions;
}

apimachinery::Result<PodTemplateSpec> TemplateOf(const ControllerRevision& revision) {
  KX_ASSIGN_OR_RETURN(codec::JsonTree data, codec::JsonTree::Parse(revision.data.raw));
  const codec::JsonTree* const found = data.At({"spec", "template"});
  if (found == nullptr) {
    return apimachinery::Fail(
        apimachinery::Reason::kMalformed,
        "the ControllerRevision " + revision.metadata.name + " has no spec.template in its data");
  }
  codec::JsonTree pod_template = *found;
  pod_template.Erase("$patch");
  return codec::DecodeJson<PodTemplateSpec>(pod_template.ToJson());
}

}  // namespace kubexx::apiserver::controllers
