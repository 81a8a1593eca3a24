#include "kubexx/apiserver/endpoints/validation/pods/mount_validation.h"

#include <set>
#include <span>
#include <string>

#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Returns the text `member` of all elements. An object may have many thousands of them.
std::set<std::string_view> TextsOf(std::span<const JsonTree> list, std::string_view member) {
  std::set<std::string_view> texts;
  for (const JsonTree& one : list) {
    texts.insert(one.TextAt(member));
  }
  return texts;
}

void CheckPropagation(const JsonTree& mount, bool privileged, const FieldPath& list,
                      FieldCauses& causes) {
  CheckChoice(mount, "mountPropagation", "Bidirectional|HostToContainer|None", list, causes);
  if (mount.TextAt("mountPropagation") == "Bidirectional" && !privileged) {
    causes.Forbidden(list.Of("mountPropagation"),
                     "Bidirectional mount propagation is available only to privileged containers");
  }
}

void CheckRecursive(const JsonTree& mount, const FieldPath& list, FieldCauses& causes) {
  CheckChoice(mount, "recursiveReadOnly", "Disabled|Enabled|IfPossible", list, causes);
  const std::string_view recursive = mount.TextAt("recursiveReadOnly");
  if (recursive != "Enabled" && recursive != "IfPossible") {
    return;
  }
  if (!IsTrueAt(mount, "readOnly")) {
    causes.Forbidden(list.Of("recursiveReadOnly"), "may only be specified when readOnly is true");
  }
  if (const JsonTree* const propagation = GivenAt(mount, "mountPropagation");
      propagation != nullptr && mount.TextAt("mountPropagation") != "None") {
    causes.Forbidden(list.Of("recursiveReadOnly"),
                     "may only be specified when mountPropagation is None or not specified");
  }
}

/// kube-apiserver reports these faults for the list, without an index.
void CheckMount(const JsonTree& mount, bool privileged, const FieldPath& list,
                const FieldPath& here, FieldCauses& causes) {
  const std::string_view sub = mount.TextAt("subPath");
  const std::string_view expression = mount.TextAt("subPathExpr");
  if (!sub.empty()) {
    CheckRelativePath(sub, list.Of("subPath"), causes);
  }
  if (!expression.empty()) {
    if (!sub.empty()) {
      causes.Invalid(here.Of("subPathExpr"), QuotedJson(expression),
                     "subPathExpr and subPath are mutually exclusive");
    }
    CheckRelativePath(expression, list.Of("subPathExpr"), causes);
  }
  if (GivenAt(mount, "mountPropagation") != nullptr) {
    CheckPropagation(mount, privileged, list, causes);
  }
  if (GivenAt(mount, "recursiveReadOnly") != nullptr) {
    CheckRecursive(mount, list, causes);
  }
}

void CheckVolumeMounts(const JsonTree& container, const PodVolumes& volumes, const FieldPath& path,
                       FieldCauses& causes) {
  const auto device_names = TextsOf(ListAt(container, "volumeDevices"), "name");
  const auto device_paths = TextsOf(ListAt(container, "volumeDevices"), "devicePath");
  const JsonTree* const context = GivenAt(container, "securityContext");
  const bool privileged = context != nullptr && IsTrueAt(*context, "privileged");
  const FieldPath list = path.Member("volumeMounts");
  std::set<std::string_view> taken;
  ForEachOf(container, "volumeMounts", path, [&](const JsonTree& mount, const FieldPath& here) {
    const std::string_view name = mount.TextAt("name");
    const std::string_view place = mount.TextAt("mountPath");
    NeedText(mount, "name", here, causes);
    if (!volumes.contains(name)) {
      causes.NotFound(here.Of("name"), QuotedJson(name), "the pod has no such volume");
    }
    NeedText(mount, "mountPath", here, causes);
    if (!taken.insert(place).second) {
      causes.Invalid(here.Of("mountPath"), QuotedJson(place), "must be unique");
    }
    if (device_names.contains(name)) {
      causes.Invalid(here.Of("name"), QuotedJson(name), "must not already exist in volumeDevices");
    }
    if (device_paths.contains(place)) {
      causes.Invalid(here.Of("mountPath"), QuotedJson(place),
                     "must not already exist as a path in volumeDevices");
    }
    CheckMount(mount, privileged, list, here, causes);
  });
}

bool HasBacksteps(std::string_view place) {
  FieldCauses problems;
  CheckNoBacksteps(place, "", problems);
  return !problems.empty();
}

void CheckDeviceName(std::string_view name, const PodVolumes& volumes, const FieldPath& here,
                     FieldCauses& causes) {
  const auto found = volumes.find(name);
  if (name.empty()) {
    causes.Required(here.Of("name"));
  }
  if (found == volumes.end()) {
    causes.NotFound(here.Of("name"), QuotedJson(name), "the pod has no such volume");
  } else if (GivenAt(*found->second, "persistentVolumeClaim") == nullptr &&
             GivenAt(*found->second, "ephemeral") == nullptr) {
    causes.Invalid(here.Of("name"), QuotedJson(name),
                   "only a PersistentVolumeClaim or an Ephemeral volume can be a device");
  }
}

void CheckDevices(const JsonTree& container, const PodVolumes& volumes, const FieldPath& path,
                  FieldCauses& causes) {
  const auto mount_names = TextsOf(ListAt(container, "volumeMounts"), "name");
  const auto mount_paths = TextsOf(ListAt(container, "volumeMounts"), "mountPath");
  std::set<std::string_view> names;
  std::set<std::string_view> places;
  ForEachOf(container, "volumeDevices", path, [&](const JsonTree& device, const FieldPath& here) {
    const std::string_view name = device.TextAt("name");
    const std::string_view place = device.TextAt("devicePath");
    CheckDeviceName(name, volumes, here, causes);
    if (!name.empty() && !names.insert(name).second) {
      causes.Invalid(here.Of("name"), QuotedJson(name), "must be unique");
    }
    NeedText(device, "devicePath", here, causes);
    if (places.contains(place)) {
      causes.Invalid(here.Of("devicePath"), QuotedJson(place), "must be unique");
    }
    if (HasBacksteps(place)) {
      causes.Invalid(here.Of("devicePath"), QuotedJson(place), "must not contain '..'");
    } else {
      places.insert(place);
    }
    if (mount_names.contains(name)) {
      causes.Invalid(here.Of("name"), QuotedJson(name), "must not already exist in volumeMounts");
    }
    if (mount_paths.contains(place)) {
      causes.Invalid(here.Of("devicePath"), QuotedJson(place),
                     "must not already exist as a path in volumeMounts");
    }
  });
}

}  // namespace

void CheckMounts(const JsonTree& container, const PodVolumes& volumes, const FieldPath& path,
                 FieldCauses& causes) {
  if (!ListAt(container, "volumeMounts").empty()) {
    CheckVolumeMounts(container, volumes, path, causes);
  }
  if (!ListAt(container, "volumeDevices").empty()) {
    CheckDevices(container, volumes, path, causes);
  }
}

}  // namespace kubexx::apiserver
