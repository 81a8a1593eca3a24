#include "kubexx/reloader/model/used_keys.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;

using UsedSource = UsedKeys::key_type;

/// One ConfigMap or Secret in a volume, with the files that its keys become.
struct MountedSource {
  UsedSource source{};
  const std::vector<core::KeyToPath>& items;  ///< empty: a file for each key, with its name
};

std::vector<MountedSource> SourcesIn(const core::VolumeSource& volume) {
  std::vector<MountedSource> sources;
  if (volume.config_map) {
    sources.push_back({{SourceType::kConfigMap, volume.config_map->local_object_reference.name},
                       volume.config_map->items});
  }
  if (volume.secret) {
    sources.push_back({{SourceType::kSecret, volume.secret->secret_name}, volume.secret->items});
  }
  if (volume.projected) {
    for (const core::VolumeProjection& each : volume.projected->sources) {
      if (each.config_map) {
        sources.push_back({{SourceType::kConfigMap, each.config_map->local_object_reference.name},
                           each.config_map->items});
      }
      if (each.secret) {
        sources.push_back(
            {{SourceType::kSecret, each.secret->local_object_reference.name}, each.secret->items});
      }
    }
  }
  return sources;
}

/// Removes the parts of the path that do not change the folder: "./a/" becomes "a", and "." becomes
/// "".
std::string_view Cleaned(std::string_view path) {
  while (path.starts_with("./") || path.starts_with('/')) {
    path.remove_prefix(path.starts_with('/') ? 1 : 2);
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path == "." ? std::string_view() : path;
}

/// Returns the part of the volume that a container sees: empty for all of it, and std::nullopt when
/// it is not known.
std::optional<std::string_view> PartOf(const core::VolumeMount& mount) {
  const std::string_view path =
      mount.sub_path_expr.empty() ? std::string_view(mount.sub_path) : mount.sub_path_expr;
  if (!mount.sub_path_expr.empty() && path.contains('$')) {
    return std::nullopt;
  }
  return Cleaned(path);
}

/// Collects the keys that a workload uses of each source.
class UseCollector {
 public:
  void All(const UsedSource& source) { whole_.insert(source); }
  void One(const UsedSource& source, const std::string& key) { keys_[source].insert(key); }

  void Mount(const core::VolumeSource& volume, const core::VolumeMount& mount) {
    const std::vector<MountedSource> sources = SourcesIn(volume);
    const auto part = PartOf(mount);
    const bool is_found = part && std::ranges::count_if(sources, [&](const MountedSource& each) {
                                    return AddPart(each, *part);
                                  }) > 0;
    if (!is_found) {
      std::ranges::for_each(sources, [&](const MountedSource& each) { All(each.source); });
    }
  }

  UsedKeys Take() {
    UsedKeys used;
    for (auto& [source, keys] : keys_) {
      std::vector<std::string> problems;
      std::string list = reloadpolicy::KeyList({keys.begin(), keys.end()}, problems);
      if (!whole_.contains(source) && !list.empty() && problems.empty()) {
        used[source] = std::move(list);
      }
    }
    return used;
  }

 private:
  /// Adds the keys of one source that become files in a part of its volume. Returns whether the
  /// part may belong to this source.
  bool AddPart(const MountedSource& from, std::string_view part) {
    if (from.items.empty()) {
      // The kubelet keeps folders of its own in the volume, and their names begin with "..".
      const bool is_key = reloadpolicy::IsDataKey(part) && !part.starts_with("..");
      if (part.empty()) {
        All(from.source);
      } else if (is_key) {
        One(from.source, std::string(part));
      }
      return part.empty() || is_key;
    }
    bool is_found = false;
    for (const core::KeyToPath& item : from.items) {
      const std::string_view path = Cleaned(item.path);
      if (part.empty() || path == part ||
          (path.starts_with(part) && path.substr(part.size()).starts_with('/'))) {
        One(from.source, item.key);
        is_found = true;
      }
    }
    return is_found;
  }

  std::set<UsedSource> whole_;
  std::map<UsedSource, std::set<std::string>> keys_;
};

void AddUsesOf(const core::Container& container, const std::vector<core::Volume>& volumes,
               UseCollector& uses) {
  for (const core::EnvVar& variable : container.env) {
    if (!variable.value_from) {
      continue;
    }
    if (const auto& ref = variable.value_from->config_map_key_ref) {
      uses.One({SourceType::kConfigMap, ref->local_object_reference.name}, ref->key);
    }
    if (const auto& ref = variable.value_from->secret_key_ref) {
      uses.One({SourceType::kSecret, ref->local_object_reference.name}, ref->key);
    }
  }
  for (const core::EnvFromSource& from : container.env_from) {
    if (from.config_map_ref) {
      uses.All({SourceType::kConfigMap, from.config_map_ref->local_object_reference.name});
    }
    if (from.secret_ref) {
      uses.All({SourceType::kSecret, from.secret_ref->local_object_reference.name});
    }
  }
  for (const core::VolumeMount& mount : container.volume_mounts) {
    const auto volume = std::ranges::find(volumes, mount.name, &core::Volume::name);
    if (volume != volumes.end()) {
      uses.Mount(volume->volume_source, mount);
    }
  }
}

bool IsIn(std::string_view key, std::string_view list) {
  return AnyItem(list, [&](std::string_view item) { return item == key; });
}

}  // namespace

UsedKeys UsedKeysOf(const core::PodSpec& pod) {
  UseCollector uses;
  for (const auto* containers : {&pod.containers, &pod.init_containers}) {
    for (const core::Container& container : *containers) {
      AddUsesOf(container, pod.volumes, uses);
    }
  }
  return uses.Take();
}

std::string TextOf(const UsedKeys& keys) {
  std::string text;
  for (const auto& [source, list] : keys) {
    text.append(text.empty() ? "" : " ").append(NamesOf(source.first).lower);
    text.append("/").append(source.second).append("=").append(list);
  }
  return text;
}

UsedKeys UsedKeysFrom(std::string_view text) {
  UsedKeys keys;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t slash = item.find('/');
    const std::size_t equals = item.find('=');
    if (slash == std::string_view::npos || equals == std::string_view::npos || equals < slash) {
      continue;
    }
    const auto type = TypeCalled(&SourceTypeNames::lower, item.substr(0, slash));
    if (type) {
      keys[{*type, std::string(item.substr(slash + 1, equals - slash - 1))}] =
          item.substr(equals + 1);
    }
  }
  return keys;
}

std::string KeysInBoth(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) {
    return one.empty() ? other : one;
  }
  std::string both;
  AnyItem(one, [&](std::string_view key) {
    if (IsIn(key, other)) {
      both.append(both.empty() ? "" : ",").append(key);
    }
    return false;
  });
  return both.empty() ? std::string(kNoKeys) : both;
}

bool HasNoKeysBeyond(std::string_view keys, std::string_view among) {
  if (keys.empty() || among.empty()) {
    return among.empty();
  }
  return !AnyItem(keys, [&](std::string_view key) { return !IsIn(key, among); });
}

}  // namespace kubexx::reloader
