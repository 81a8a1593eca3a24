/// @file
/// What can make a workload roll: a ConfigMap, a Secret or a SecretProviderClass.
#ifndef KUBEXX_RELOADER_MODEL_SOURCE_H_
#define KUBEXX_RELOADER_MODEL_SOURCE_H_

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::reloader {

enum class SourceType : std::uint8_t {
  kConfigMap,
  kSecret,
  kSecretProviderClass,  ///< by what the pods that mount it report of it: see ProviderClasses
};

inline constexpr std::array kSourceTypes{SourceType::kConfigMap, SourceType::kSecret,
                                         SourceType::kSecretProviderClass};

/// The spellings of one type.
struct SourceTypeNames {
  std::string_view lower;   ///< in annotation keys: "configmap"
  std::string_view upper;   ///< in variables, logs and state: "CONFIGMAP"
  std::string_view plural;  ///< the API resource whose events count: "configmaps"
  std::string_view kind;    ///< the API kind: "ConfigMap"
};

constexpr SourceTypeNames NamesOf(SourceType type) {
  switch (type) {
    case SourceType::kConfigMap:
      return {"configmap", "CONFIGMAP", "configmaps", "ConfigMap"};
    case SourceType::kSecret:
      return {"secret", "SECRET", "secrets", "Secret"};
    case SourceType::kSecretProviderClass:
      break;
  }
  return {"secretproviderclass", "SECRETPROVIDERCLASS", "secretproviderclasspodstatuses",
          "SecretProviderClass"};
}

/// Names one source.
struct SourceId {
  SourceType type = SourceType::kConfigMap;
  apimachinery::ObjectKey key{};
  auto operator<=>(const SourceId&) const = default;
};

/// A resource version as a number: versions of all types of object in one store are of one
/// sequence. 0: it is none.
std::uint64_t VersionNumber(std::string_view resource_version);

/// All that is kept of a source.
struct Source {
  SourceId id{};
  Digest digest{};
  bool ignore = false;  ///< carries the ignore annotation with the value "true"
  bool match = false;   ///< carries the match annotation with the value "true"
  bool paused = false;  ///< carries kSourcePaused with another value than "false"
  /// Only these keys count, as reloadpolicy::KeyList, and `digest` is over them; empty: all. As
  /// kept by informers: what the annotation kSourceKeys says, and `digest` is over all the data.
  std::string keys{};
  Digest whole{};         ///< with `keys`: over all the data
  std::string release{};  ///< see ReleaseOf
  /// Of the object, when it is a number: everything that was written to it was before or at this
  /// version. 0: not known. Compared with versions of workloads, which come from the same store.
  std::uint64_t resource_version = 0;
  /// Of a SecretProviderClass, which has a state for each pod: all digests that are as good as
  /// `digest`, the newest.
  std::vector<Digest> current{};
  /// Of a SecretProviderClass: some pod's state has changed. Else pods have only come and gone,
  /// which rolls nothing.
  bool updated = true;
  /// Nothing can be told of it, but its name: it cannot be read, or is there and not watched. It
  /// counts neither as there nor as deleted.
  bool unknown = false;
  bool operator==(const Source&) const = default;
};

}  // namespace kubexx::reloader

template <>
struct std::hash<kubexx::reloader::SourceId> {
  std::size_t operator()(const kubexx::reloader::SourceId& id) const noexcept {
    return std::hash<kubexx::apimachinery::ObjectKey>()(id.key) * 4 +
           static_cast<std::size_t>(id.type);
  }
};

#endif  // KUBEXX_RELOADER_MODEL_SOURCE_H_
