/// @file
/// Kinds of sources that are not built into the operator, as people describe them: objects of which
/// some fields count.
#ifndef KUBEXX_RELOADER_KINDS_SOURCE_KIND_H_
#define KUBEXX_RELOADER_KINDS_SOURCE_KIND_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/object_field.h"

namespace kubexx::reloader {

/// A kind of custom resources, and the fields whose changes roll workloads. A value type.
struct SourceKind {
  std::string group{};
  std::string version{};
  std::string kind{};      ///< "Certificate"
  std::string resource{};  ///< "certificates"
  /// At least one. An object is a source as soon as it has all of them.
  std::vector<ObjectField> fields{};
  bool operator==(const SourceKind&) const = default;

  /// The API resource. Valid as long as this object, and while it does not change.
  apimachinery::ResourceInfo Resource() const;
  /// Eight hexadecimal digits that tell this description from one of other fields, or of another
  /// resource: digests under different marks do not compare. The order of fields, and the version,
  /// do not count.
  std::string Mark() const;
};

/// The most kinds that there can be.
inline constexpr std::size_t kMaxSourceKinds = 50;

/// Parses a list of kinds in YAML or JSON; empty text is an empty list. kInvalidConfig says where
/// what is wrong. `own`: what the operator has itself, or by other flags. No kind may be called as
/// another one, in the singular or in the plural.
apimachinery::Result<std::vector<SourceKind>> ParseSourceKinds(
    std::string_view yaml, const std::vector<apimachinery::ResourceInfo>& own);

/// A kind that this process knows, with its spellings.
struct KnownSourceKind {
  SourceKind described{};
  std::string lower{};  ///< "certificate"
  std::string upper{};  ///< "CERTIFICATE"
  std::string mark{};   ///< SourceKind::Mark
};

/// Tells this process of kinds. Otherwise as AddCustomKinds.
void AddSourceKinds(const std::vector<SourceKind>& kinds, Precedence precedence = Precedence::kNew);

/// The kinds that have been added, at most 200. What this returns stays as it is, and valid for
/// ever; the next call may return more. Thread-safe.
const std::vector<KnownSourceKind>& SourceKinds();

/// Their resources, in the same order. Stays valid for ever. Thread-safe.
const std::vector<apimachinery::ResourceInfo>& SourceResources();

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_SOURCE_KIND_H_
