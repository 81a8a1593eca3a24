/// @file
/// Who wrote the baseline that is on a workload.
#ifndef KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_
#define KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_

#include <map>
#include <optional>
#include <string>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::reloader {

/// When somebody else wrote the annotation kBaselineAnnotation together with the pod template, by
/// the managed fields: zero when that cannot be told. Nothing when its value is the operator's own,
/// or that of somebody who has not changed the template, or when the managed fields do not tell.
///
/// `kubectl rollout undo` writes the annotations of a former revision along with its template: the
/// baseline says then what that revision ran with, while the pods that it starts have the data of
/// the moment. `template_is_stamped`: it has a variable or annotation of a rollout, which whoever
/// brings the template back owns. An undo that only takes another one away owns none: it is known
/// by the command's name.
std::optional<apimachinery::Time> BaselineRestoredAt(const api::meta::v1::ObjectMeta& metadata,
                                                     bool template_is_stamped);

/// When a command that undoes rollouts (`kubectl rollout undo`) last wrote the pod template, or the
/// baseline, by the managed fields, which do not tell when all it does is to take something away.
std::optional<apimachinery::Time> UndoneAt(const api::meta::v1::ObjectMeta& metadata);

/// Whether somebody else than the operator wrote the baseline that is on a workload; not when the
/// managed fields do not tell.
bool IsBaselineForeign(const api::meta::v1::ObjectMeta& metadata);

/// When the data of a ConfigMap or Secret were last written by anybody, by the managed fields and
/// by its creation; nothing when they do not tell. Of one second's precision. The API server does
/// not count an update that only takes fields away.
std::optional<apimachinery::Time> LastWritten(const api::meta::v1::ObjectMeta& metadata);

/// The same for each key of its data, as far as the managed fields tell keys apart. The time is the
/// last of those who wrote the key, who may have written other keys then.
std::map<std::string, apimachinery::Time> KeysLastWritten(
    const api::meta::v1::ObjectMeta& metadata);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_
