/// @file
/// The record of the data for which a wave rolled a workload, which is stored on the workload and
/// thus survives restarts.
#ifndef KUBEXX_RELOADPOLICY_ROLLED_DATA_H_
#define KUBEXX_RELOADPOLICY_ROLLED_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

/// The operator writes this annotation in the write that rolls a workload in a wave, and again when
/// that rollout has failed. Its value is "<state> <uid of the workload>" and the data, separated by
/// spaces.
inline constexpr std::string_view kRolledDataAnnotation = "reloader.kubexx.io/rolled-data";

/// A version of the data of a source, as "ConfigMap/name=<digest>". The source is in the namespace
/// of the workload that has the record.
using DataVersions = std::vector<std::string>;

/// The version of a source's data that has this digest, or whatever else tells them apart: a text
/// without spaces.
std::string DataVersion(const ObjectRef& source, std::string_view digest);

/// What a version is made of. The texts are parts of it.
struct DataVersionParts {
  std::string_view kind{};
  std::string_view name{};
  std::string_view digest{};
};

/// The inverse of DataVersion, without a namespace. Returns std::nullopt for any other text.
std::optional<DataVersionParts> PartsOf(std::string_view version);

/// A record has at most this many versions: the others of a rollout for more sources are left out.
/// With the longest names these take a third of what all annotations of an object may have
/// together, 256 KiB; with names as people give them, a tenth.
inline constexpr std::size_t kMaxDataVersions = 256;

/// Whether versions may have been left out.
inline bool MayBeCut(const DataVersions& versions) { return versions.size() >= kMaxDataVersions; }

/// What became of the data.
enum class DataState : std::uint8_t {
  kRolled,    ///< the workload was rolled for it
  kFailed,    ///< that rollout failed: nobody else is rolled for it
  kReleased,  ///< it failed, and a person lets the others go on nevertheless
};

/// The record, as it is stored on a workload.
struct RolledData {
  DataState state = DataState::kRolled;
  DataVersions versions{};
  bool operator==(const RolledData&) const = default;
};

/// The value of kRolledDataAnnotation for a workload with this uid.
std::string TextOf(const RolledData& data, std::string_view uid);

/// Reads kRolledDataAnnotation. Returns std::nullopt when the annotation is missing or malformed,
/// or names another uid: then it was copied from another object.
std::optional<RolledData> RolledDataOf(const Annotations& annotations, std::string_view uid);

/// Whether the record on a workload says that a wave rolled it for this version, whatever came of
/// that.
bool WasRolledFor(const std::string& version, const Annotations& annotations, std::string_view uid);

/// Whether the two have a version in common.
bool HaveInCommon(const DataVersions& one, const DataVersions& other);

/// Whether `versions` has each of `others`.
bool HasAllOf(const DataVersions& versions, const DataVersions& others);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ROLLED_DATA_H_
