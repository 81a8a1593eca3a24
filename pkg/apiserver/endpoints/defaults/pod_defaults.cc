#include "kubexx/apiserver/endpoints/defaults/pod_defaults.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/image_name.h"
#include "kubexx/apiserver/endpoints/defaults/set_default.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr int kFileMode = 0644;

/// Returns the member if it is an object, and otherwise null.
JsonTree* ObjectIn(JsonTree& object, std::string_view member) {
  JsonTree* const found = object.Find(member);
  return found != nullptr && found->IsObject() ? found : nullptr;
}

/// Calls `change` with each element of the list, if there is one.
void ForEachIn(JsonTree& object, std::string_view list,
               base::FunctionRef<void(JsonTree& element)> change) {
  JsonTree* const found = object.Find(list);
  if (found == nullptr) {
    return;
  }
  for (JsonTree& element : found->elements()) {
    change(element);
  }
}

/// Sets a number that is missing or 0.
void SetNumber(JsonTree& object, std::string_view member, int value) {
  JsonTree& slot = object[member];
  if (slot.IsNull() || slot.AsInt() == 0) {
    slot = JsonTree(value);
  }
}

/// The name of an image may come to mean another image, unless it has a digest. For a name that is
/// invalid the image is not pulled again either.
const char* PullPolicyOf(std::string_view image) {
  const auto name = ParseImageName(image);
  return name && name->tag == "latest" ? "Always" : "IfNotPresent";
}

void DefaultHttpGet(JsonTree& handler) {
  if (JsonTree* const get = ObjectIn(handler, "httpGet")) {
    SetDefault(*get, "path", "/");
    SetDefault(*get, "scheme", "HTTP");
  }
}

void DefaultProbe(JsonTree& probe) {
  SetNumber(probe, "timeoutSeconds", 1);
  SetNumber(probe, "periodSeconds", 10);
  SetNumber(probe, "successThreshold", 1);
  SetNumber(probe, "failureThreshold", 3);
  DefaultHttpGet(probe);
  if (JsonTree* const grpc = ObjectIn(probe, "grpc")) {
    SetDefault(*grpc, "service", "");
  }
}

void DefaultFieldRef(JsonTree& object) {
  if (JsonTree* const field = ObjectIn(object, "fieldRef")) {
    SetDefault(*field, "apiVersion", "v1");
  }
}

void DefaultContainer(JsonTree& container) {
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "imagePullPolicy", PullPolicyOf(StringAt(container, {"image"})));
  SetDefault(container, "resources", JsonTree::Object());
  RoundResources(container["resources"]);
  ForEachIn(container, "ports", [](JsonTree& port) { SetDefault(port, "protocol", "TCP"); });
  ForEachIn(container, "env", [](JsonTree& variable) {
    if (JsonTree* const from = ObjectIn(variable, "valueFrom")) {
      DefaultFieldRef(*from);
      if (JsonTree* const file = ObjectIn(*from, "fileKeyRef")) {
        SetDefault(*file, "optional", false);
      }
    }
  });
  for (const char* const name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    if (JsonTree* const probe = ObjectIn(container, name)) {
      DefaultProbe(*probe);
    }
  }
  if (JsonTree* const lifecycle = ObjectIn(container, "lifecycle")) {
    for (const char* const name : {"postStart", "preStop"}) {
      if (JsonTree* const handler = ObjectIn(*lifecycle, name)) {
        DefaultHttpGet(*handler);
      }
    }
  }
}

/// A field of a volume's source with a plain default.
struct SourceDefault {
  std::string_view source;
  std::string_view field;
  std::string_view value;
  bool may_be_empty = false;  ///< An empty one was chosen.
};
constexpr SourceDefault kSourceDefaults[] = {
    {"hostPath", "type", "", true},
    {"iscsi", "iscsiInterface", "default"},
    {"rbd", "pool", "rbd"},
    {"rbd", "user", "admin"},
    {"rbd", "keyring", "/etc/ceph/keyring"},
    {"azureDisk", "cachingMode", "ReadWrite", true},
    {"azureDisk", "fsType", "ext4", true},
    {"azureDisk", "kind", "Shared", true},
    {"scaleIO", "storageMode", "ThinProvisioned"},
    {"scaleIO", "fsType", "xfs"},
};

void DefaultVolume(JsonTree& volume) {
  if (volume.size() <= (volume.Find("name") == nullptr ? 0U : 1U)) {
    volume["emptyDir"] = JsonTree::Object();
  }
  SetVolumeSourceDefaults(volume);
  for (const char* const name : {"configMap", "secret", "projected", "downwardAPI"}) {
    if (JsonTree* const source = ObjectIn(volume, name)) {
      SetDefault(*source, "defaultMode", kFileMode);
    }
  }
  if (JsonTree* const image = ObjectIn(volume, "image")) {
    SetDefault(*image, "pullPolicy", PullPolicyOf(StringAt(*image, {"reference"})));
  }
  if (JsonTree* const downward = ObjectIn(volume, "downwardAPI")) {
    ForEachIn(*downward, "items", DefaultFieldRef);
  }
  if (JsonTree* const projected = ObjectIn(volume, "projected")) {
    ForEachIn(*projected, "sources", [](JsonTree& source) {
      if (JsonTree* const downward = ObjectIn(source, "downwardAPI")) {
        ForEachIn(*downward, "items", DefaultFieldRef);
      }
      if (JsonTree* const token = ObjectIn(source, "serviceAccountToken")) {
        SetDefault(*token, "expirationSeconds", 3600);
      }
    });
  }
  if (JsonTree* const ephemeral = ObjectIn(volume, "ephemeral")) {
    if (JsonTree* const claim = ObjectIn(*ephemeral, "volumeClaimTemplate")) {
      SetDefault((*claim)["spec"], "volumeMode", "Filesystem");
    }
  }
}

/// The account's name is in the deprecated field, too.
void MirrorAccount(JsonTree& spec) {
  const std::string name = StringAt(spec, {"serviceAccountName"});
  const std::string former = StringAt(spec, {"serviceAccount"});
  if (!name.empty()) {
    spec["serviceAccount"] = name;
  } else if (!former.empty()) {
    spec["serviceAccountName"] = former;
  }
}

/// The default request of a container is its limit.
void DefaultRequests(JsonTree& container) {
  JsonTree* const resources = ObjectIn(container, "resources");
  const JsonTree* const limits = resources == nullptr ? nullptr : ObjectIn(*resources, "limits");
  if (limits == nullptr) {
    return;
  }
  const JsonTree* const given = resources->Find("requests");
  std::vector<JsonTree::Member> requests;
  if (given != nullptr) {
    requests.assign(given->members().begin(), given->members().end());
  }
  const codec::MemberIndex requested(given);
  for (const JsonTree::Member& limit : limits->members()) {
    if (requested.Find(limit.key) == nullptr) {
      requests.push_back(limit);
    }
  }
  (*resources)["requests"] = JsonTree::Object(std::move(requests));
}

}  // namespace

void SetVolumeSourceDefaults(JsonTree& holder) {
  for (const SourceDefault& one : kSourceDefaults) {
    JsonTree* const source = ObjectIn(holder, one.source);
    if (source != nullptr && !(one.may_be_empty && source->Find(one.field) != nullptr)) {
      SetDefault(*source, one.field, one.value);
    }
  }
  if (JsonTree* const disk = ObjectIn(holder, "azureDisk")) {
    SetDefault(*disk, "readOnly", false);
  }
}

void SetPodSpecDefaults(JsonTree& spec) {
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "securityContext", JsonTree::Object());
  SetDefault(spec, "schedulerName", "default-scheduler");
  MirrorAccount(spec);
  if (JsonTree* const resources = ObjectIn(spec, "resources")) {
    RoundResources(*resources);
  }
  for (const char* const list : {"initContainers", "containers", "ephemeralContainers"}) {
    ForEachIn(spec, list, DefaultContainer);
  }
  ForEachIn(spec, "volumes", DefaultVolume);
}

void SetPodDefaults(JsonTree& pod) {
  SetDefault(pod["status"], "phase", "Pending");
  // The spec is taken after the status was added, because a member that is added moves the others.
  JsonTree& spec = pod["spec"];
  SetPodSpecDefaults(spec);
  SetDefault(spec, "enableServiceLinks", true);
  if (const JsonTree* const grace = spec.Find("terminationGracePeriodSeconds");
      grace != nullptr && grace->AsInt().value_or(0) < 0) {
    spec["terminationGracePeriodSeconds"] = 1;
  }
  const JsonTree* const shares_network = spec.Find("hostNetwork");
  const bool on_host = shares_network != nullptr && shares_network->AsBool().value_or(false);
  for (const char* const list : {"initContainers", "containers"}) {
    ForEachIn(spec, list, [on_host](JsonTree& container) {
      DefaultRequests(container);
      if (on_host) {
        ForEachIn(container, "ports", [](JsonTree& port) {
          SetNumber(port, "hostPort", static_cast<int>(port["containerPort"].AsInt().value_or(0)));
        });
      }
    });
  }
  DefaultResourcesOfPod(spec);
}

}  // namespace kubexx::apiserver
