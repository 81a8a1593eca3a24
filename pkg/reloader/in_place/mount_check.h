/// @file
/// Which files of a pod come from sources, and what has to be in them.
#ifndef KUBEXX_RELOADER_IN_PLACE_MOUNT_CHECK_H_
#define KUBEXX_RELOADER_IN_PLACE_MOUNT_CHECK_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// The SHA-256 of the value under each key of a source, as 64 hexadecimal digits. A Secret's value
/// cannot be read from it, and need not leave the container in order to be compared.
using KeyHashes = std::map<std::string, std::string>;

/// The SHA-256 of `text`, as 64 hexadecimal digits.
std::string Sha256Of(std::string_view text);

/// A directory of a container into which the kubelet writes sources. A value type.
struct MountCheck {
  std::string container{};
  std::string directory{};
  /// The paths below the directory, and the SHA-256 of what has to be there.
  std::vector<std::pair<std::string, std::string>> files{};
  /// Everything that has to be in the directory itself; names that begin with ".." are the
  /// kubelet's own and do not count.
  std::set<std::string> names{};
  /// What else may be there: places at which the container mounts something within the directory.
  std::set<std::string> may_be{};
  bool operator==(const MountCheck&) const = default;
};

/// Those of `sources` that the pod has in a volume or in its environment. One of an earlier
/// template than the workload's present one may have none of them.
std::set<SourceId> SourcesUsedBy(const api::core::v1::Pod& pod, const std::set<SourceId>& sources);

/// The ConfigMaps and Secrets whose data decide what is in the volumes that contain one of
/// `sources`: the sources themselves, and their neighbours in projected volumes.
std::set<SourceId> SourcesBeside(const api::core::v1::Pod& pod, const std::set<SourceId>& sources);

/// How to see in a container whether the kubelet has written `sources`. `data` has the hashes of
/// all SourcesBeside; a source that does not exist is not in it. A volume that several containers
/// mount is looked at in one of them, in `container` if that mounts it.
///
/// Fails with kInvalid, and a clause that says why, when the present data cannot reach the running
/// pod, or not all of it: a container has a source in its environment, mounts it by subPath, or is
/// an init container that has run; nobody mounts it; something else is in the same volume; or the
/// container that is looked at mounts something else over a file of the source.
apimachinery::Result<std::vector<MountCheck>> MountChecksFor(
    const api::core::v1::Pod& pod, const std::string& container, const std::set<SourceId>& sources,
    const std::map<SourceId, KeyHashes>& data);

/// Whether `output` of `sha256sum` for the files of the check says that all are as they have to be.
bool HasRightHashes(const MountCheck& check, std::string_view output);
/// Whether `output` of `ls -A1` in the directory of the check says that all files are there, and
/// besides at most what may be.
bool HasRightNames(const MountCheck& check, std::string_view output);

/// "ConfigMap settings", as clauses show it.
std::string ShownSource(const SourceId& source);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_MOUNT_CHECK_H_
