/// @file
/// What informers keep of each object: digests of sources, references of workloads, and nothing
/// else.
#ifndef KUBEXX_RELOADER_MODEL_PROJECTION_H_
#define KUBEXX_RELOADER_MODEL_PROJECTION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Replaces the content of a ConfigMap or Secret (or of a SecretProviderClassPodStatus: see
/// ProjectPodStatus) by a KeptSource, which has the digest of its data. The data, the encoded bytes
/// and everything decoded from them are wiped before it returns, also when it fails. For
/// InformerOptions::transform. kMalformed when the bytes are not an object of that type.
apimachinery::Result<void> ProjectSource(SourceType type, const AnnotationKeys& keys,
                                         cache::Object& object);

/// Reduces a workload to what Workload holds. Changes of status, scale, images and the like leave
/// the projection's bytes as they were, but for the begin and the end of rollouts and of pauses,
/// and for what tells pod templates apart. kMalformed when the bytes are not an object of that
/// kind.
apimachinery::Result<void> ProjectWorkload(WorkloadKind kind, const AnnotationKeys& keys,
                                           cache::Object& object);

/// Reads back what ProjectSource made; of a SecretProviderClassPodStatus the class, with kNoSource
/// while the pod has reported nothing. kMalformed for anything else.
apimachinery::Result<Source> SourceFrom(SourceType type, const cache::Object& object);

/// Whether nobody has changed the source, its labels for example, since it was made, by the times
/// of its managed fields; of what ProjectSource made of a ConfigMap or Secret, false for others.
bool IsAsCreated(const cache::Object& object);

/// Reads back what ProjectWorkload made.
apimachinery::Result<Workload> WorkloadFrom(WorkloadKind kind, const cache::Object& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_PROJECTION_H_
