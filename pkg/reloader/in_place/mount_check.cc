#include "kubexx/reloader/in_place/mount_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "kubexx/base/hex.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
using apimachinery::Result;

apimachinery::Error CannotReach(const std::string& why) {
  return apimachinery::Fail(apimachinery::Reason::kInvalid, why);
}

/// A part of a volume that comes from one ConfigMap or Secret.
struct VolumePart {
  SourceId source{};
  std::vector<core::KeyToPath> items{};
  bool optional = false;
};

/// What a volume is made of.
struct VolumeParts {
  std::vector<VolumePart> parts{};
  /// The paths of what comes from elsewhere and may be beside them.
  std::vector<std::string> others{};
  bool has_unknown_others = false;
};

VolumeParts PartsOf(const core::Volume& volume, const std::string& namespace_) {
  VolumeParts parts;
  const auto add = [&](SourceType type, const std::string& name, const auto& source) {
    parts.parts.push_back(
        {{type, {namespace_, name}}, source.items, source.optional.value_or(false)});
  };
  const core::VolumeSource& source = volume.volume_source;
  if (source.config_map) {
    add(SourceType::kConfigMap, source.config_map->local_object_reference.name, *source.config_map);
  }
  if (source.secret) {
    add(SourceType::kSecret, source.secret->secret_name, *source.secret);
  }
  if (!source.projected) {
    return parts;
  }
  for (const core::VolumeProjection& each : source.projected->sources) {
    if (each.config_map) {
      add(SourceType::kConfigMap, each.config_map->local_object_reference.name, *each.config_map);
    } else if (each.secret) {
      add(SourceType::kSecret, each.secret->local_object_reference.name, *each.secret);
    } else if (each.downward_api) {
      std::ranges::transform(each.downward_api->items, std::back_inserter(parts.others),
                             &core::DownwardAPIVolumeFile::path);
    } else if (each.service_account_token) {
      parts.others.push_back(each.service_account_token->path);
    } else {
      parts.has_unknown_others = true;
    }
  }
  return parts;
}

bool HasPartOf(const VolumeParts& parts, const std::set<SourceId>& sources) {
  return std::ranges::any_of(parts.parts,
                             [&](const VolumePart& part) { return sources.contains(part.source); });
}

std::string FirstComponent(const std::string& path) { return path.substr(0, path.find('/')); }

/// The sources that the container has in its environment.
std::vector<SourceId> SourcesInEnvironment(const core::Container& container,
                                           const std::string& namespace_) {
  std::vector<SourceId> used;
  const auto add = [&](SourceType type, const std::string& name) {
    used.push_back({type, {namespace_, name}});
  };
  for (const core::EnvFromSource& from : container.env_from) {
    if (from.config_map_ref) {
      add(SourceType::kConfigMap, from.config_map_ref->local_object_reference.name);
    }
    if (from.secret_ref) {
      add(SourceType::kSecret, from.secret_ref->local_object_reference.name);
    }
  }
  for (const core::EnvVar& variable : container.env) {
    if (variable.value_from && variable.value_from->config_map_key_ref) {
      add(SourceType::kConfigMap,
          variable.value_from->config_map_key_ref->local_object_reference.name);
    }
    if (variable.value_from && variable.value_from->secret_key_ref) {
      add(SourceType::kSecret, variable.value_from->secret_key_ref->local_object_reference.name);
    }
  }
  return used;
}

bool IsSidecar(const core::Container& container) {
  return container.restart_policy && *container.restart_policy == "Always";
}

const core::VolumeMount* MountOf(const core::Container& container, const std::string& volume) {
  const auto found = std::ranges::find(container.volume_mounts, volume, &core::VolumeMount::name);
  return found == container.volume_mounts.end() ? nullptr : &*found;
}

/// Those of its containers that run as long as the pod does.
std::vector<const core::Container*> RunningContainers(const core::Pod& pod) {
  std::vector<const core::Container*> containers;
  for (const core::Container& each : pod.spec.containers) {
    containers.push_back(&each);
  }
  for (const core::Container& each : pod.spec.init_containers) {
    if (IsSidecar(each)) {
      containers.push_back(&each);
    }
  }
  return containers;
}

/// Finds the reasons that lie in containers.
Result<void> CheckContainers(const core::Pod& pod, const std::set<SourceId>& sources) {
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const core::Container& each : *containers) {
      for (const SourceId& id : SourcesInEnvironment(each, pod.metadata.namespace_)) {
        if (sources.contains(id)) {
          return CannotReach("container " + each.name + " has " + ShownSource(id) +
                             " in its environment, which only a new pod changes");
        }
      }
    }
  }
  for (const core::Volume& volume : pod.spec.volumes) {
    if (!HasPartOf(PartsOf(volume, pod.metadata.namespace_), sources)) {
      continue;
    }
    for (const core::Container& each : pod.spec.init_containers) {
      if (!IsSidecar(each) && MountOf(each, volume.name) != nullptr) {
        return CannotReach("init container " + each.name + " has read volume " + volume.name +
                           ", and runs again only in a new pod");
      }
    }
    for (const core::Container* each : RunningContainers(pod)) {
      if (std::ranges::any_of(each->volume_mounts, [&](const core::VolumeMount& mount) {
            return mount.name == volume.name &&
                   (!mount.sub_path.empty() || !mount.sub_path_expr.empty());
          })) {
        return CannotReach("container " + each->name + " mounts volume " + volume.name +
                           " by subPath, which the kubelet never updates");
      }
    }
  }
  return {};
}

/// The path without what does not matter: slashes at its end, double ones, and dots.
std::string CleanPath(const std::string& path) {
  std::string clean = std::filesystem::path(path).lexically_normal().generic_string();
  while (clean.size() > 1 && clean.ends_with('/')) {
    clean.pop_back();
  }
  return clean;
}

/// `path` relative to `directory`, if it is below that; else empty.
std::string PathBelow(const std::string& path, const std::string& directory) {
  const std::string begin = directory == "/" ? directory : directory + "/";
  return path.starts_with(begin) ? path.substr(begin.size()) : std::string();
}

/// The paths at which the container gets files that are not of the volume mounted at `directory`,
/// relative to that: from other volumes, and from the kubelet.
std::vector<std::string> MountsBelow(const core::Container& container,
                                     const std::string& directory) {
  std::vector<std::string> paths{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf",
                                 container.termination_message_path};
  std::ranges::transform(container.volume_mounts, std::back_inserter(paths),
                         &core::VolumeMount::mount_path);
  std::vector<std::string> below;
  for (const std::string& path : paths) {
    if (std::string inner = PathBelow(CleanPath(path), directory); !inner.empty()) {
      below.push_back(std::move(inner));
    }
  }
  return below;
}

/// Adds what is mounted within the directory. A volume's folder gets an empty directory or file for
/// each, which the kubelet neither writes nor takes away.
Result<void> AddMountsBelow(const core::Container& container, MountCheck& check) {
  for (const std::string& path : MountsBelow(container, check.directory)) {
    const auto hidden = std::ranges::find_if(check.files, [&](const auto& file) {
      return file.first == path || file.first.starts_with(path + "/");
    });
    if (hidden != check.files.end()) {
      return CannotReach("container " + container.name + " mounts something else over " +
                         check.directory + "/" + hidden->first);
    }
    check.may_be.insert(FirstComponent(path));
  }
  return {};
}

/// Adds what other containers mount within the same volume, whose folder is one for all of them.
void AddMountsOfOthers(const core::Pod& pod, const std::string& volume, MountCheck& check) {
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const core::Container& other : *containers) {
      if (const core::VolumeMount* outer = MountOf(other, volume)) {
        for (const std::string& path : MountsBelow(other, CleanPath(outer->mount_path))) {
          check.may_be.insert(FirstComponent(path));
        }
      }
    }
  }
}

/// Adds what has to be there of one source.
Result<void> AddPart(const VolumePart& part, const std::map<SourceId, KeyHashes>& data,
                     MountCheck& check) {
  const auto found = data.find(part.source);
  if (found == data.end()) {
    return part.optional ? Result<void>()
                         : CannotReach(ShownSource(part.source) + " does not exist");
  }
  const auto add = [&](const std::string& path, const std::string& hash) {
    // A later source of a projected volume counts more.
    std::erase_if(check.files, [&](const auto& file) { return file.first == path; });
    check.files.emplace_back(path, hash);
    check.names.insert(FirstComponent(path));
  };
  if (part.items.empty()) {
    for (const auto& [key, hash] : found->second) {
      add(key, hash);
    }
  }
  for (const core::KeyToPath& item : part.items) {
    const auto hash = found->second.find(item.key);
    if (hash != found->second.end()) {
      add(item.path, hash->second);
    } else if (!part.optional) {
      return CannotReach(ShownSource(part.source) + " has no key " + item.key +
                         ", without which the kubelet does not update the volume");
    }
  }
  return {};
}

}  // namespace

std::string ShownSource(const SourceId& source) {
  return std::string(NamesOf(source.type).kind) + " " + source.key.name;
}

std::string Sha256Of(std::string_view text) { return base::ToHex(crypto::Sha256(text)); }

std::set<SourceId> SourcesUsedBy(const core::Pod& pod, const std::set<SourceId>& sources) {
  std::set<SourceId> used;
  const auto add = [&](const SourceId& id) {
    if (sources.contains(id)) {
      used.insert(id);
    }
  };
  for (const core::Volume& volume : pod.spec.volumes) {
    for (const VolumePart& part : PartsOf(volume, pod.metadata.namespace_).parts) {
      add(part.source);
    }
  }
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const core::Container& each : *containers) {
      std::ranges::for_each(SourcesInEnvironment(each, pod.metadata.namespace_), add);
    }
  }
  return used;
}

std::set<SourceId> SourcesBeside(const core::Pod& pod, const std::set<SourceId>& sources) {
  std::set<SourceId> beside = sources;
  for (const core::Volume& volume : pod.spec.volumes) {
    const VolumeParts parts = PartsOf(volume, pod.metadata.namespace_);
    if (HasPartOf(parts, sources)) {
      std::ranges::transform(parts.parts, std::inserter(beside, beside.end()), &VolumePart::source);
    }
  }
  return beside;
}

Result<std::vector<MountCheck>> MountChecksFor(const core::Pod& pod, const std::string& container,
                                               const std::set<SourceId>& sources,
                                               const std::map<SourceId, KeyHashes>& data) {
  KX_RETURN_IF_ERROR(CheckContainers(pod, sources));
  std::vector<MountCheck> checks;
  std::set<SourceId> missing = sources;
  for (const core::Volume& volume : pod.spec.volumes) {
    const VolumeParts parts = PartsOf(volume, pod.metadata.namespace_);
    if (!HasPartOf(parts, sources)) {
      continue;
    }
    if (parts.has_unknown_others) {
      return CannotReach("volume " + volume.name +
                         " has other things beside, of which nothing is known");
    }
    const core::Container* in = nullptr;
    for (const core::Container* each : RunningContainers(pod)) {
      if (MountOf(*each, volume.name) != nullptr && (in == nullptr || each->name == container)) {
        in = each;
      }
    }
    if (in == nullptr) {
      continue;
    }
    MountCheck check{.container = in->name,
                     .directory = CleanPath(MountOf(*in, volume.name)->mount_path)};
    for (const VolumePart& part : parts.parts) {
      KX_RETURN_IF_ERROR(AddPart(part, data, check));
      missing.erase(part.source);
    }
    for (const std::string& path : parts.others) {
      check.names.insert(FirstComponent(path));
    }
    KX_RETURN_IF_ERROR(AddMountsBelow(*in, check));
    AddMountsOfOthers(pod, volume.name, check);
    checks.push_back(std::move(check));
  }
  if (!missing.empty()) {
    return CannotReach("no container mounts " + ShownSource(*missing.begin()));
  }
  return checks;
}

bool HasRightHashes(const MountCheck& check, std::string_view output) {
  constexpr std::size_t kHashDigits = 64;
  for (const auto& [path, hash] : check.files) {
    if (output.starts_with('\\')) {
      output.remove_prefix(1);  // a path with characters that it escapes
    }
    const std::size_t end = output.find('\n');
    if (end == std::string_view::npos || end < kHashDigits ||
        output.substr(0, kHashDigits) != hash) {
      return false;
    }
    output.remove_prefix(end + 1);
  }
  return output.empty();
}

bool HasRightNames(const MountCheck& check, std::string_view output) {
  std::set<std::string> names;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view name = output.substr(0, end);
    if (!name.empty() && !name.starts_with("..")) {
      names.emplace(name);
    }
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return std::ranges::includes(names, check.names) &&
         std::ranges::all_of(names, [&](const std::string& name) {
           return check.names.contains(name) || check.may_be.contains(name);
         });
}

}  // namespace kubexx::reloader
