#include "kubexx/kubelet/config/static_pod.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/owner_reference.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/kubelet/config/pod_defaults.h"

namespace kubexx::kubelet {
namespace {

namespace core = api::core::v1;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// 128 bits as hex digits, as the UIDs of static pods have; where nothing depends on secrecy.
std::string Digest(std::string_view text) {
  const crypto::Sha256Sum sum = crypto::Sha256(text);
  return base::ToHex(std::span(sum).first(16));
}

bool RefersToApi(const core::EnvVar& variable) {
  return variable.value_from &&
         (variable.value_from->config_map_key_ref || variable.value_from->secret_key_ref);
}

bool RefersToApi(const core::VolumeSource& volume) {
  if (volume.projected) {
    return std::ranges::any_of(volume.projected->sources, [](const core::VolumeProjection& source) {
      return !source.downward_api;
    });
  }
  return volume.secret || volume.config_map || volume.persistent_volume_claim || volume.ephemeral ||
         volume.csi || volume.glusterfs || volume.azure_file || volume.cephfs || volume.rbd ||
         volume.iscsi || volume.flex_volume || volume.cinder || volume.scale_io ||
         volume.storageos || volume.portworx_volume;
}

/// What of the pod needs an object of the API, which a node without one does not have.
std::string ApiReference(const core::PodSpec& spec) {
  if (!spec.service_account_name.empty() || !spec.service_account.empty()) {
    return "a service account";
  }
  if (!spec.resource_claims.empty()) {
    return "a resource claim";
  }
  for (const core::Volume& volume : spec.volumes) {
    if (RefersToApi(volume.volume_source)) {
      return "volume " + volume.name;
    }
  }
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const core::Container& container : *containers) {
      if (!container.env_from.empty()) {
        return "envFrom of container " + container.name;
      }
      const auto found = std::ranges::find_if(
          container.env, [](const core::EnvVar& variable) { return RefersToApi(variable); });
      if (found != container.env.end()) {
        return "variable " + found->name + " of container " + container.name;
      }
    }
  }
  return {};
}

Result<void> Check(const Pod& pod) {
  const auto refuse = [&pod](const std::string& what) {
    return Fail(Reason::kInvalid, "pod \"" + pod.metadata.name + "\": " + what);
  };
  if (pod.metadata.name.empty()) {
    return Fail(Reason::kInvalid, "metadata.name: a pod needs a name; generateName is not enough");
  }
  if (!apimachinery::IsDnsSubdomain(pod.metadata.name)) {
    return refuse(
        "metadata.name: must consist of lower case letters, digits, - and . and begin "
        "and end with a letter or digit");
  }
  if (pod.spec.containers.empty()) {
    return refuse("spec.containers: at least one is needed");
  }
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const core::Container& container : *containers) {
      if (container.name.empty() || container.image.empty()) {
        return refuse("container \"" + container.name + "\": name and image are needed");
      }
    }
  }
  if (!pod.spec.ephemeral_containers.empty()) {
    return refuse("spec.ephemeralContainers: not allowed in a static pod");
  }
  if (const std::string reference = ApiReference(pod.spec); !reference.empty()) {
    return refuse(reference + ": a static pod may not refer to objects of the API");
  }
  return {};
}

/// Makes a static pod of what the manifest says.
Result<Pod> Complete(Pod pod, const ManifestOrigin& origin) {
  const bool is_file = origin.source == kFileSource;
  if (pod.metadata.uid.empty()) {
    pod.metadata.uid = Digest(codec::EncodeJson(pod) + "\n" + std::string(origin.node_name) + "\n" +
                              std::string(origin.source) + "\n" + std::string(origin.location));
  }
  KX_RETURN_IF_ERROR(Check(pod));
  pod.metadata.name = StaticPodName(pod.metadata.name, origin.node_name);
  if (!apimachinery::IsDnsSubdomain(pod.metadata.name)) {
    return Fail(Reason::kInvalid,
                "\"" + pod.metadata.name +
                    "\", the pod's name and the node's, is not a valid name of a pod");
  }
  if (pod.metadata.namespace_.empty()) {
    pod.metadata.namespace_ = "default";
  }
  pod.spec.node_name = origin.node_name;
  pod.metadata.annotations[std::string(kConfigHashAnnotation)] = pod.metadata.uid;
  if (is_file) {
    core::Toleration all;
    all.operator_ = "Exists";
    all.effect = "NoExecute";
    if (std::ranges::find(pod.spec.tolerations, all) == pod.spec.tolerations.end()) {
      pod.spec.tolerations.push_back(std::move(all));
    }
  }
  SetPodDefaults(pod);
  pod.status = {};
  pod.status.phase = "Pending";
  return pod;
}

}  // namespace

std::string StaticPodName(std::string_view name, std::string_view node_name) {
  return std::string(name) + "-" + base::ToLower(node_name);
}

Result<std::vector<Pod>> ParseManifest(std::string_view manifest, const ManifestOrigin& origin) {
  // JSON is YAML, but for what only YAML's reader limits.
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> documents, codec::YamlToJson(manifest));
  if (documents.size() != 1) {
    return Fail(Reason::kMalformed, documents.empty()
                                        ? "contains no manifest"
                                        : "has several documents; a manifest must have one Pod");
  }
  KX_ASSIGN_OR_RETURN(const codec::JsonTree tree, codec::JsonTree::Parse(documents.front()));
  const std::string_view kind = tree.TextAt("kind");
  if (tree.TextAt("apiVersion") != "v1" ||
      (kind != "Pod" && !(kind == "PodList" && origin.source == kHttpSource))) {
    return Fail(Reason::kMalformed, "is a \"" + std::string(kind) + "\" of \"" +
                                        std::string(tree.TextAt("apiVersion")) +
                                        "\", but must be a Pod of v1");
  }
  std::vector<Pod> read;
  if (kind == "Pod") {
    KX_ASSIGN_OR_RETURN(Pod pod, codec::DecodeJson<Pod>(documents.front()));
    read.push_back(std::move(pod));
  } else {
    KX_ASSIGN_OR_RETURN(core::PodList list, codec::DecodeJson<core::PodList>(documents.front()));
    read = std::move(list.items);
  }
  std::vector<Pod> pods;
  for (Pod& pod : read) {
    KX_ASSIGN_OR_RETURN(Pod complete, Complete(std::move(pod), origin));
    pods.push_back(std::move(complete));
  }
  return pods;
}

bool IsStaticPod(const Pod& pod) {
  const auto found = pod.metadata.annotations.find(std::string(kConfigSourceAnnotation));
  return found != pod.metadata.annotations.end() && found->second != kApiSource;
}

bool IsMirrorPod(const Pod& pod) {
  return pod.metadata.annotations.contains(std::string(kConfigMirrorAnnotation));
}

bool IsMirrorOf(const Pod& mirror, const Pod& static_pod) {
  const auto& annotations = mirror.metadata.annotations;
  const auto found = annotations.find(std::string(kConfigMirrorAnnotation));
  const auto hash = static_pod.metadata.annotations.find(std::string(kConfigHashAnnotation));
  return found != annotations.end() && hash != static_pod.metadata.annotations.end() &&
         found->second == hash->second && mirror.metadata.name == static_pod.metadata.name &&
         mirror.metadata.namespace_ == static_pod.metadata.namespace_;
}

Pod MirrorPodOf(const Pod& static_pod, std::string_view node_uid) {
  Pod mirror = static_pod;
  const auto hash = static_pod.metadata.annotations.find(std::string(kConfigHashAnnotation));
  mirror.metadata.annotations[std::string(kConfigMirrorAnnotation)] =
      hash == static_pod.metadata.annotations.end() ? static_pod.metadata.uid : hash->second;
  mirror.metadata.uid.clear();  // the server's to give
  mirror.status = {};
  auto owner = api::OwnerReferenceTo(core::kNodeResource, static_pod.spec.node_name, node_uid);
  owner.controller = true;
  mirror.metadata.owner_references = {std::move(owner)};
  return mirror;
}

}  // namespace kubexx::kubelet
