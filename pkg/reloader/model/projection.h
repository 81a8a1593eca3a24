/// @file
/// The projections that informers store in place of whole objects: digests of sources, references
/// of workloads, and nothing else.
#ifndef KUBEXX_RELOADER_MODEL_PROJECTION_H_
#define KUBEXX_RELOADER_MODEL_PROJECTION_H_

#include <cstdint>
#include <functional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// How much of a ConfigMap or Secret an informer keeps.
enum class SourceDetail : std::uint8_t {
  kDigest,    ///< what decides about rollouts
  kWithKeys,  ///< also what tells which keys change, and who writes them: see SourceTrace
};

/// Replaces the content of a ConfigMap or Secret by a KeptSource with the digest of its data. (For
/// a SecretProviderClassPodStatus see ProjectPodStatus, for described kinds ProjectFields.) Wipes
/// the data, the encoded bytes and everything decoded from them before it returns, also when it
/// fails. Made for InformerOptions::transform. Fails with kMalformed when the bytes are not an
/// object of that type.
apimachinery::Result<void> ProjectSource(SourceType type, const AnnotationKeys& keys,
                                         cache::Object& object,
                                         SourceDetail detail = SourceDetail::kDigest);

/// Reduces a workload to what Workload contains. Changes of status, replicas, images and the like
/// do not change the projection's bytes. Exceptions are the start and end of rollouts and pauses,
/// and what distinguishes pod templates. Fails with kMalformed when the bytes are not an object of
/// that kind.
apimachinery::Result<void> ProjectWorkload(WorkloadKind kind, const AnnotationKeys& keys,
                                           cache::Object& object);

/// The InformerOptions::transform that informers of the type need: they project with `keys`.
std::function<apimachinery::Result<void>(cache::Object&)> TransformFor(
    SourceType type, AnnotationKeys keys, SourceDetail detail = SourceDetail::kDigest);
std::function<apimachinery::Result<void>(cache::Object&)> TransformFor(WorkloadKind kind,
                                                                       AnnotationKeys keys);

/// Reads back what ProjectSource or ProjectFields has made. An object that lacks a field of its
/// described kind has the digest kNoSource: it is no source yet. One that could not be decoded is
/// there, and fails with kMalformed. For a SecretProviderClassPodStatus
/// it returns the class, with kNoSource while the pod has reported nothing. Fails with kMalformed
/// for anything else.
apimachinery::Result<Source> SourceFrom(SourceType type, const cache::Object& object);

/// Whether nobody has changed the source (its labels, for example) since it was created, according
/// to the times in its managed fields. `source` must be what ProjectSource made of a ConfigMap or
/// Secret, or ProjectFields of an object; the result is false for others.
bool IsAsCreated(const cache::Object& object);

/// Reads back what ProjectWorkload has made. Fails with kMalformed for anything else.
apimachinery::Result<Workload> WorkloadFrom(WorkloadKind kind, const cache::Object& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_PROJECTION_H_
