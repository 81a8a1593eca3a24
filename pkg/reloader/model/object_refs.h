/// @file
/// Converts between the operator's identifiers of objects and those of reload policies.
#ifndef KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_
#define KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_

#include <optional>
#include <string>

#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

inline reloadpolicy::ObjectRef RefOf(const WorkloadId& id) {
  return {std::string(KindName(id.kind)), id.key};
}

inline reloadpolicy::ObjectRef RefOf(const SourceId& id) {
  return {std::string(NamesOf(id.type).kind), id.key};
}

/// Returns std::nullopt when `ref` is not a workload of a known kind.
inline std::optional<WorkloadId> IdOf(const reloadpolicy::ObjectRef& ref) {
  const auto kind = ParseWorkloadKind(ref.kind);
  return kind ? std::optional(WorkloadId{*kind, ref.key}) : std::nullopt;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_OBJECT_REFS_H_
