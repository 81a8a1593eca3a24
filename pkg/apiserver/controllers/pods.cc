#include "kubexx/apiserver/controllers/pods.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <tuple>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/conditions.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// FNV-1a.
std::uint32_t Hash(std::string_view bytes) {
  std::uint32_t hash = 2166136261U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
  }
  return hash;
}

/// Returns 0 without the annotation, and when it is not a number.
std::int32_t DeletionCostOf(const Pod& pod) {
  const auto found = pod.metadata.annotations.find("controller.kubernetes.io/pod-deletion-cost");
  std::int32_t cost = 0;
  if (found != pod.metadata.annotations.end()) {
    const std::string& text = found->second;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, cost);
    cost = read.ec == std::errc() && read.ptr == end ? cost : 0;
  }
  return cost;
}

}  // namespace

bool IsActive(const Pod& pod) {
  return pod.status.phase != "Succeeded" && pod.status.phase != "Failed" &&
         !pod.metadata.deletion_timestamp;
}

bool IsTerminating(const Pod& pod) {
  return pod.status.phase != "Succeeded" && pod.status.phase != "Failed" &&
         pod.metadata.deletion_timestamp.has_value();
}

std::string_view ConditionOf(const Pod& pod, std::string_view type) {
  return controller::ConditionStatus(pod.status.conditions, type);
}

bool IsReady(const Pod& pod) { return ConditionOf(pod, "Ready") == "True"; }

bool IsAvailable(const Pod& pod, std::int32_t min_ready_seconds, const apimachinery::Time& now) {
  const auto* const ready = controller::FindCondition(pod.status.conditions, "Ready");
  return ready != nullptr && ready->status == "True" &&
         (min_ready_seconds == 0 ||
          ready->last_transition_time.seconds + min_ready_seconds <= now.seconds);
}

Pod PodOf(const PodTemplateSpec& pod_template, const std::string& namespace_) {
  Pod pod;
  pod.metadata.namespace_ = namespace_;
  pod.metadata.labels = pod_template.metadata.labels;
  pod.metadata.annotations = pod_template.metadata.annotations;
  pod.metadata.finalizers = pod_template.metadata.finalizers;
  pod.spec = pod_template.spec;
  return pod;
}

void SortForDeletion(std::vector<PodRef>& pods) {
  const auto rank = [](const PodRef& pod) {
    return std::tuple(!pod->spec.node_name.empty(), pod->status.phase == "Running", IsReady(*pod),
                      DeletionCostOf(*pod), -pod->metadata.creation_timestamp.seconds,
                      pod->metadata.name);
  };
  std::ranges::sort(pods, {}, rank);
}

std::string TemplateHash(const PodTemplateSpec& pod_template,
                         const std::optional<std::int32_t>& collisions) {
  // There are no vowels, so that no words appear.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string bytes = codec::EncodeProtobuf(pod_template);
  if (collisions) {
    bytes += std::to_string(*collisions);
  }
  std::string text;
  for (std::size_t rest = Hash(bytes); text.size() < 7; rest /= kAlphabet.size()) {
    text.push_back(kAlphabet[rest % kAlphabet.size()]);
  }
  return text;
}

std::vector<PodRef> Deletions::Filter(const apimachinery::ObjectKey& owner,
                                      std::vector<PodRef>& pods) {
  std::vector<PodRef> deleted;
  const base::MutexLock lock(mu_);
  const auto found = deleted_.find(owner);
  if (found == deleted_.end()) {
    return deleted;
  }
  std::set<std::string> still_there;
  std::erase_if(pods, [&](const PodRef& pod) {
    const bool is_deleted = found->second.contains(pod->metadata.uid);
    if (is_deleted) {
      still_there.insert(pod->metadata.uid);
      deleted.push_back(pod);
    }
    return is_deleted;
  });
  if (still_there.empty()) {
    deleted_.erase(found);
  } else {
    found->second = std::move(still_there);
  }
  return deleted;
}

Result<void> Deletions::Delete(const controller::Client& client,
                               const apimachinery::ObjectKey& owner, const Pod& pod) {
  const auto deleted =
      client.Delete<Pod>({pod.metadata.namespace_, pod.metadata.name}, {.uid = pod.metadata.uid});
  if (!deleted && deleted.error().reason != Reason::kNotFound) {
    return Fail(deleted.error());
  }
  Note(owner, pod.metadata.uid);
  return {};
}

void Deletions::Note(const apimachinery::ObjectKey& owner, const std::string& pod_uid) {
  const base::MutexLock lock(mu_);
  deleted_[owner].insert(pod_uid);
}

void Deletions::Forget(const apimachinery::ObjectKey& owner) {
  const base::MutexLock lock(mu_);
  deleted_.erase(owner);
}

}  // namespace kubexx::apiserver::controllers
