/// @file
/// Converts between the operator's identifiers of objects and data and those of reload policies.
#ifndef KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_
#define KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {

inline reloadpolicy::ObjectRef RefOf(const WorkloadId& id) {
  return {std::string(KindName(id.kind)), id.key};
}

inline reloadpolicy::ObjectRef RefOf(const SourceId& id) {
  return {std::string(NamesOf(id.type).kind), id.key};
}

/// The object that the source is, as policies name it, in its own namespace.
inline reloadpolicy::ObjectRef ObjectRefOf(const SourceId& id) {
  return {std::string(NamesOf(id.type).kind), ObjectKeyOf(id)};
}

/// How records of waves tell a digest of the source's data. That of a described kind is followed by
/// "." and the mark of its description, as digests under another one do not compare with it.
inline std::string RecordedDigest(const SourceId& id, std::string digest) {
  if (const KnownSourceKind* const kind = DescribedBy(id.type)) {
    digest.append(".").append(kind->mark);
  }
  return digest;
}

/// Whether a digest that RecordedDigest has made is of another description than the present one.
inline bool IsOfOtherFields(const SourceId& id, std::string_view recorded) {
  const KnownSourceKind* const kind = DescribedBy(id.type);
  return kind != nullptr && !recorded.ends_with("." + kind->mark);
}

/// The version of a source's data that has this digest.
inline std::string DataVersionOf(const SourceId& id, std::string digest) {
  return reloadpolicy::DataVersion(RefOf(id), RecordedDigest(id, std::move(digest)));
}

/// Returns std::nullopt when `ref` is not a workload of a known kind.
inline std::optional<WorkloadId> IdOf(const reloadpolicy::ObjectRef& ref) {
  const auto kind = ParseWorkloadKind(ref.kind);
  return kind ? std::optional(WorkloadId{*kind, ref.key}) : std::nullopt;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_
