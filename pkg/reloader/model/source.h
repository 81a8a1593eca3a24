/// @file
/// What can make a workload roll: a ConfigMap, a Secret, a SecretProviderClass, or an object of a
/// kind that people have described.
#ifndef KUBEXX_RELOADER_MODEL_SOURCE_H_
#define KUBEXX_RELOADER_MODEL_SOURCE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/kinds/source_kind.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/key_prints.h"

namespace kubexx::reloader {

/// Described kinds have the numbers after the last of these, in the order of SourceKinds.
enum class SourceType : std::uint8_t {
  kConfigMap,
  kSecret,
  /// Known through the reports of the pods that mount it: see ProviderClasses.
  kSecretProviderClass,
};

/// The types that the operator has itself.
inline constexpr std::array kSourceTypes{SourceType::kConfigMap, SourceType::kSecret,
                                         SourceType::kSecretProviderClass};

/// The spellings of one source type.
struct SourceTypeNames {
  std::string_view lower;   ///< in annotation keys: "configmap"
  std::string_view upper;   ///< in variables, logs and annotations: "CONFIGMAP"
  std::string_view plural;  ///< the API resource whose events are handled: "configmaps"
  std::string_view kind;    ///< the API kind: "ConfigMap"
};

/// What people have said of a kind of sources; null for a type that the operator has itself.
inline const KnownSourceKind* DescribedBy(SourceType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kSourceTypes.size() ? nullptr : &SourceKinds().at(index - kSourceTypes.size());
}

/// Whether people have described the type.
constexpr bool IsDescribed(SourceType type) {
  return static_cast<std::size_t>(type) >= kSourceTypes.size();
}

/// The types that the operator has itself, and then the described ones: see AddSourceKinds.
inline auto AllSourceTypes() {
  return std::views::iota(std::size_t{0}, kSourceTypes.size() + SourceKinds().size()) |
         std::views::transform([](std::size_t index) { return static_cast<SourceType>(index); });
}

inline SourceTypeNames NamesOf(SourceType type) {
  switch (type) {
    case SourceType::kConfigMap:
      return {"configmap", "CONFIGMAP", "configmaps", "ConfigMap"};
    case SourceType::kSecret:
      return {"secret", "SECRET", "secrets", "Secret"};
    case SourceType::kSecretProviderClass:
      return {"secretproviderclass", "SECRETPROVIDERCLASS", "secretproviderclasspodstatuses",
              "SecretProviderClass"};
  }
  const KnownSourceKind& kind = *DescribedBy(type);
  return {kind.lower, kind.upper, kind.described.resource, kind.described.kind};
}

/// The type that is spelt so, such as TypeCalled(&SourceTypeNames::kind, "ConfigMap"); std::nullopt
/// when there is none.
std::optional<SourceType> TypeCalled(std::string_view SourceTypeNames::* spelling,
                                     std::string_view name);

/// Identifies one source, as the workloads of one namespace see it: `key.namespace_` is theirs. A
/// source of another namespace has "NAMESPACE/NAME" as its name, which no object's own name can be.
/// So whatever is kept by the namespace of workloads, or written on them, holds for it as well, and
/// nothing takes it for a source of the same name in their own namespace.
struct SourceId {
  SourceType type = SourceType::kConfigMap;
  apimachinery::ObjectKey key{};
  auto operator<=>(const SourceId&) const = default;
};

/// Whether the source is of another namespace than the workloads that the id is for.
inline bool IsForeign(const SourceId& id) { return id.key.name.contains('/'); }

/// The id under which workloads of `namespace_` know an object of another namespace.
inline SourceId ForeignId(SourceType type, const apimachinery::ObjectKey& object,
                          std::string_view namespace_) {
  return {type, {std::string(namespace_), object.namespace_ + "/" + object.name}};
}

/// The key of the object that the source is.
inline apimachinery::ObjectKey ObjectKeyOf(const SourceId& id) {
  const std::size_t slash = id.key.name.find('/');
  return slash == std::string::npos
             ? id.key
             : apimachinery::ObjectKey{id.key.name.substr(0, slash), id.key.name.substr(slash + 1)};
}

/// Converts a resource version to a number. All types of objects in one store share one sequence of
/// versions. Returns 0 when the text is not a number.
std::uint64_t VersionNumber(std::string_view resource_version);

/// What the operator knows of a source.
struct Source {
  SourceId id{};
  Digest digest{};
  bool ignore = false;  ///< it has the ignore annotation with the value "true"
  bool match = false;   ///< it has the match annotation with the value "true"
  bool paused = false;  ///< it has kSourcePaused with a value other than "false"
  /// Its present data are those that the operator has put back: see RestoredMark.
  bool restored = false;
  /// With `restored`: all workloads ran with these data then, before others came in their place.
  /// See RestoredMark::settled.
  std::optional<apimachinery::Time> settled{};
  /// The keys that count, as reloadpolicy::KeyList writes them; empty: all. `digest` covers these
  /// keys. In a source that comes from an informer, this is the list in the annotation kSourceKeys,
  /// while `digest` still covers all data.
  std::string keys{};
  Digest whole{};      ///< with `keys`: the digest of all data
  KeyPrints prints{};  ///< of all data, when they come from an informer
  /// Only the keys that the workload uses count, of those that count at all; `keys` says which.
  bool by_use = false;
  std::string release{};  ///< see ReleaseOf
  /// The other namespaces that it allows to name it: sorted and separated by commas, or "*". See
  /// kAllowedNamespaces.
  std::string allowed{};
  /// The object's resource version, if it is a number; 0: not known. Everything written to the
  /// object was written at or before this version. It can be compared with versions of workloads,
  /// which come from the same store. Of a SecretProviderClass: that of the newest change which a
  /// pod has reported; 0: none has reported a change.
  std::uint64_t resource_version = 0;
  /// Only for a SecretProviderClass, which has a state for each pod: all digests that are as new as
  /// `digest`, the newest.
  std::vector<Digest> current{};
  /// Only for a SecretProviderClass: the state of some pod has changed. If false, pods have only
  /// been created and deleted, which rolls nothing.
  bool updated = true;
  /// Only the source's name is known: it cannot be read, or it exists and is not watched. It counts
  /// neither as existing nor as deleted. Likewise a source of another namespace that does not allow
  /// this one to name it, or does not exist: nothing tells the two apart.
  bool unknown = false;
  bool operator==(const Source&) const = default;
};

/// Whether the source allows workloads of this other namespace to name it.
bool Allows(const Source& source, std::string_view namespace_);

}  // namespace kubexx::reloader

template <>
struct std::hash<kubexx::reloader::SourceId> {
  std::size_t operator()(const kubexx::reloader::SourceId& id) const noexcept {
    return std::hash<kubexx::apimachinery::ObjectKey>()(id.key) * 256 +
           static_cast<std::size_t>(id.type);
  }
};

#endif  // KUBEXX_RELOADER_MODEL_SOURCE_H_
