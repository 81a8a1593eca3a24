#include "kubexx/apiserver/endpoints/validation/pods/volume_sources.h"

#include <algorithm>
#include <string>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/file_sources.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxDriverBytes = 63;
constexpr std::int64_t kLastLun = 255;

/// A source that is given, and its volume.
struct Source {
  VolumeOwner owner;
  const JsonTree& json;
  const FieldPath& path;

  bool persistent() const { return owner == VolumeOwner::kPersistentVolume; }
};

/// Checks a reference to a Secret, which needs a name, and a namespace when it is not in its own.
void CheckSecretReference(const Source& source, FieldCauses& causes) {
  IfGiven(source.json, "secretRef", source.path, [&](const JsonTree& secret, const FieldPath& at) {
    NeedText(secret, "name", at, causes);
    if (source.persistent()) {
      NeedText(secret, "namespace", at, causes);
    }
  });
}

void CheckEmptyDir(const Source& source, FieldCauses& causes) {
  if (source.json.TextAt("sizeLimit").starts_with('-')) {
    causes.Forbidden(source.path.Of("sizeLimit"),
                     "SizeLimit field must be a valid resource quantity");
  }
}

void CheckHostPath(const Source& source, FieldCauses& causes) {
  if (NeedText(source.json, "path", source.path, causes)) {
    CheckNoBacksteps(source.json.TextAt("path"), source.path.Of("path"), causes);
    CheckChoice(source.json, "type",
                "|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket",
                source.path, causes);
  }
}

void CheckGitRepo(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "repository", source.path, causes);
  CheckRelativePath(source.json.TextAt("directory"), source.path.Of("directory"), causes);
}

/// Checks a disk of a cloud: its name and partition.
void CheckDisk(const Source& source, FieldCauses& causes) {
  NeedText(source.json, source.json.Find("pdName") != nullptr ? "pdName" : "volumeID", source.path,
           causes);
  CheckRange(source.json, "partition", 0, kLastLun, source.path, causes);
}

void CheckNfs(const Source& source, FieldCauses& causes) {
  NeedTexts(source.json, {"server", "path"}, source.path, causes);
  if (const std::string_view path = source.json.TextAt("path"); !path.starts_with('/')) {
    causes.Invalid(source.path.Of("path"), QuotedJson(path), "must be an absolute path");
  }
}

void CheckIscsi(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "targetPortal", source.path, causes);
  if (NeedText(source.json, "iqn", source.path, causes)) {
    const std::string_view name = source.json.TextAt("iqn");
    if (!name.starts_with("iqn") && !name.starts_with("eui") && !name.starts_with("naa")) {
      causes.Invalid(source.path.Of("iqn"), QuotedJson(name),
                     "must be valid format starting with iqn, eui, or naa");
    }
  }
  CheckRange(source.json, "lun", 0, kLastLun, source.path, causes);
  const JsonTree* const secret = GivenAt(source.json, "secretRef");
  if (secret == nullptr &&
      (IsTrueAt(source.json, "chapAuthDiscovery") || IsTrueAt(source.json, "chapAuthSession"))) {
    causes.Required(source.path.Of("secretRef"));
  } else if (secret != nullptr && source.persistent() && secret->TextAt("name").empty()) {
    causes.Required(source.path.Of("secretRef.name"));
  }
}

void CheckGlusterfs(const Source& source, FieldCauses& causes) {
  NeedTexts(source.json, {"endpoints", "path"}, source.path, causes);
}

void CheckFlocker(const Source& source, FieldCauses& causes) {
  const std::string_view name = source.json.TextAt("datasetName");
  const bool has_id = !source.json.TextAt("datasetUUID").empty();
  if (name.empty() && !has_id) {
    causes.Required(source.path.Text(), "one of datasetName and datasetUUID is required");
  } else if (!name.empty() && has_id) {
    causes.Invalid(source.path.Text(), QuotedJson("resource"),
                   "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.find('/') != std::string_view::npos) {
    causes.Invalid(source.path.Of("datasetName"), QuotedJson(name), "must not contain '/'");
  }
}

void CheckClaimSource(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "claimName", source.path, causes);
}

void CheckMonitors(const Source& source, FieldCauses& causes) {
  if (ListAt(source.json, "monitors").empty()) {
    causes.Required(source.path.Of("monitors"));
  }
}

void CheckRbd(const Source& source, FieldCauses& causes) {
  CheckMonitors(source, causes);
  NeedText(source.json, "image", source.path, causes);
}

void CheckCinder(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "volumeID", source.path, causes);
  CheckSecretReference(source, causes);
}

void CheckQuobyte(const Source& source, FieldCauses& causes) {
  const std::string_view registry = source.json.TextAt("registry");
  if (registry.empty()) {
    causes.Required(source.path.Of("registry"), "must be a host:port pair or more of them");
  } else if (registry.find(':') == std::string_view::npos) {
    causes.Invalid(source.path.Of("registry"), QuotedJson(registry),
                   "must be a host:port pair or more of them");
  }
  NeedText(source.json, "volume", source.path, causes);
}

void CheckFibreChannel(const Source& source, FieldCauses& causes) {
  const JsonTree* const names = source.json.Find("targetWWNs");
  const bool any = names != nullptr && names->size() > 0;
  const bool wide = !ListAt(source.json, "wwids").empty();
  if (!any && !wide) {
    causes.Required(source.path.Of("targetWWNs"), "must specify either targetWWNs or wwids");
  } else if (any && wide) {
    causes.Invalid(source.path.Of("targetWWNs"), names->ToJson(),
                   "targetWWNs and wwids can not be specified simultaneously");
  }
  if (any && !IntAt(source.json, "lun")) {
    causes.Required(source.path.Of("lun"), "lun is required if targetWWNs is specified");
  } else if (any) {
    CheckRange(source.json, "lun", 0, kLastLun, source.path, causes);
  }
}

void CheckFlexVolume(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "driver", source.path, causes);
  const JsonTree* const options = source.json.Find("options");
  if (options == nullptr) {
    return;
  }
  const FieldPath at = source.path.Member("options");
  for (const JsonTree::Member& one : options->members()) {
    const std::string domain = "." + base::ToLower(one.key.substr(0, one.key.find('/')));
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      causes.Invalid(at.Key(one.key), QuotedJson(one.key),
                     "kubernetes.io and k8s.io namespaces are reserved");
    }
  }
}

void CheckAzureFile(const Source& source, FieldCauses& causes) {
  NeedTexts(source.json, {"secretName", "shareName"}, source.path, causes);
  if (source.persistent() && GivenAt(source.json, "secretNamespace") != nullptr) {
    NeedText(source.json, "secretNamespace", source.path, causes);
  }
}

void CheckAzureDisk(const Source& source, FieldCauses& causes) {
  NeedTexts(source.json, {"diskName", "diskURI"}, source.path, causes);
  CheckChoice(source.json, "cachingMode", "None|ReadOnly|ReadWrite", source.path, causes);
  CheckChoice(source.json, "kind", "Dedicated|Managed|Shared", source.path, causes);
  const std::string_view kind = source.json.TextAt("kind");
  const std::string_view uri = source.json.TextAt("diskURI");
  if (GivenAt(source.json, "kind") != nullptr &&
      !uri.starts_with(kind == "Managed" ? "/subscriptions/" : "https://")) {
    AddNotSupported(uri,
                    kind == "Managed" ? "/subscriptions/{sub-id}/..."
                                      : "https://{account-name}.blob.windows.net/...",
                    source.path.Of("diskURI"), causes);
  }
}

void CheckVsphere(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "volumePath", source.path, causes);
}
void CheckPhoton(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "pdID", source.path, causes);
}
void CheckPortworx(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "volumeID", source.path, causes);
}
void CheckScaleIo(const Source& source, FieldCauses& causes) {
  NeedTexts(source.json, {"gateway", "system", "volumeName"}, source.path, causes);
}

void CheckStorageOs(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "volumeName", source.path, causes);
  CheckDnsLabelAt(source.json, "volumeName", source.path, causes);
  CheckDnsLabelAt(source.json, "volumeNamespace", source.path, causes);
  CheckSecretReference(source, causes);
}

void CheckLocal(const Source& source, FieldCauses& causes) {
  if (NeedText(source.json, "path", source.path, causes)) {
    CheckNoBacksteps(source.json.TextAt("path"), source.path.Of("path"), causes);
  }
}

void CheckCsi(const Source& source, FieldCauses& causes) {
  CheckDriverName(source.json.TextAt("driver"), source.path.Of("driver"), causes);
  if (!source.persistent()) {
    IfGiven(source.json, "nodePublishSecretRef", source.path,
            [&](const JsonTree& secret, const FieldPath& at) {
              NeedText(secret, "name", at, causes);
              if (const std::string_view name = secret.TextAt("name"); !name.empty()) {
                CheckDnsSubdomain(name, source.path.Of("name"), causes);
              }
            });
    return;
  }
  NeedText(source.json, "volumeHandle", source.path, causes);
  for (const std::string_view member : {"controllerPublishSecretRef", "controllerExpandSecretRef",
                                        "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    IfGiven(source.json, member, source.path, [&](const JsonTree& secret, const FieldPath& at) {
      NeedTexts(secret, {"name", "namespace"}, at, causes);
      CheckDnsSubdomainAt(secret, "name", at, causes);
      CheckDnsLabelAt(secret, "namespace", at, causes);
    });
  }
}

void CheckEphemeralVolume(const Source& source, FieldCauses& causes) {
  const JsonTree* const claim = GivenAt(source.json, "volumeClaimTemplate");
  if (claim == nullptr) {
    causes.Required(source.path.Of("volumeClaimTemplate"));
    return;
  }
  for (const JsonTree::Member& one : PartAt(*claim, "metadata").members()) {
    if (one.key != "labels" && one.key != "annotations" && !one.value.IsNull()) {
      const FieldPath at = source.path.Member("volumeClaimTemplate.metadata");
      causes.Forbidden(at.Of(one.key), "cannot be set");
    }
  }
  CheckClaimAt(PartAt(*claim, "spec"), source.path.Member("volumeClaimTemplate.spec"), causes);
}

void CheckFiles(const Source& source, FieldCauses& causes) {
  CheckFileSource(source.json, source.path, causes);
}

void CheckImage(const Source& source, FieldCauses& causes) {
  NeedText(source.json, "reference", source.path, causes);
  CheckChoice(source.json, "pullPolicy", "Always|IfNotPresent|Never", source.path, causes);
}

/// The sources in the order in which kube-apiserver checks them. The first one counts.
struct SourceKind {
  std::string_view member;
  bool of_pods;
  bool of_volumes;
  void (*check)(const Source& source, FieldCauses& causes);
  /// The name in kube-apiserver's message, if it differs.
  std::string_view told = member;
};

constexpr SourceKind kKinds[] = {
    {"emptyDir", true, false, CheckEmptyDir},
    {"hostPath", true, true, CheckHostPath},
    {"gitRepo", true, false, CheckGitRepo},
    {"gcePersistentDisk", true, true, CheckDisk, "persistentDisk"},
    {"awsElasticBlockStore", true, true, CheckDisk},
    {"glusterfs", false, true, CheckGlusterfs},
    {"flocker", false, true, CheckFlocker},
    {"secret", true, false, CheckFiles},
    {"nfs", true, true, CheckNfs},
    {"rbd", false, true, CheckRbd},
    {"quobyte", false, true, CheckQuobyte},
    {"cephfs", false, true, CheckMonitors},
    {"iscsi", true, true, CheckIscsi},
    {"glusterfs", true, false, CheckGlusterfs},
    {"flocker", true, false, CheckFlocker},
    {"persistentVolumeClaim", true, false, CheckClaimSource},
    {"rbd", true, false, CheckRbd},
    {"cinder", true, true, CheckCinder},
    {"cephfs", true, false, CheckMonitors},
    {"quobyte", true, false, CheckQuobyte},
    {"downwardAPI", true, false, CheckFiles},
    {"fc", true, true, CheckFibreChannel},
    {"flexVolume", true, true, CheckFlexVolume},
    {"configMap", true, false, CheckFiles},
    {"azureFile", true, true, CheckAzureFile},
    {"vsphereVolume", true, true, CheckVsphere},
    {"photonPersistentDisk", true, true, CheckPhoton},
    {"portworxVolume", true, true, CheckPortworx},
    {"azureDisk", true, true, CheckAzureDisk},
    {"scaleIO", false, true, CheckScaleIo},
    {"local", false, true, CheckLocal},
    {"storageos", true, true, CheckStorageOs},
    {"projected", true, false, CheckFiles},
    {"scaleIO", true, false, CheckScaleIo},
    {"csi", true, true, CheckCsi},
    {"ephemeral", true, false, CheckEphemeralVolume},
    {"image", true, false, CheckImage},
};

}  // namespace

void CheckDriverName(std::string_view name, const std::string& field, FieldCauses& causes) {
  if (name.empty()) {
    causes.Required(field);
    return;
  }
  if (name.size() > kMaxDriverBytes) {
    causes.TooLong(field, kMaxDriverBytes);
  }
  if (!apimachinery::IsDnsSubdomain(base::ToLower(name))) {
    causes.Invalid(field, QuotedJson(name), "must be a DNS subdomain");
  }
}

void CheckVolumeSource(VolumeOwner owner, const JsonTree& volume, const FieldPath& path,
                       FieldCauses& causes) {
  // A volume has few members, and there are many kinds of sources.
  const SourceKind* first = nullptr;
  const auto is_before = [](const SourceKind* kind, const SourceKind* other) {
    return other == nullptr || kind < other;
  };
  const auto kind_of = [owner](std::string_view member) -> const SourceKind* {
    const auto* const found = std::ranges::find_if(kKinds, [&](const SourceKind& kind) {
      return kind.member == member && (owner == VolumeOwner::kPod ? kind.of_pods : kind.of_volumes);
    });
    return found == std::end(kKinds) ? nullptr : found;
  };
  for (const JsonTree::Member& one : volume.members()) {
    const SourceKind* const kind = one.value.IsNull() ? nullptr : kind_of(one.key);
    if (kind != nullptr && is_before(kind, first)) {
      first = kind;
    }
  }
  if (first == nullptr) {
    causes.Required(path.Text(), "must specify a volume type");
    return;
  }
  for (const JsonTree::Member& one : volume.members()) {
    const SourceKind* const kind = one.value.IsNull() ? nullptr : kind_of(one.key);
    if (kind == first) {
      const FieldPath at = path.Member(kind->told);
      kind->check({.owner = owner, .json = one.value, .path = at}, causes);
    } else if (kind != nullptr) {
      causes.Forbidden(path.Of(one.key), "may not specify more than 1 volume type");
    }
  }
}

}  // namespace kubexx::apiserver
