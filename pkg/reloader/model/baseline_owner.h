/// @file
/// Finds out from managed fields who wrote the baseline on a workload.
#ifndef KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_
#define KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_

#include <map>
#include <optional>
#include <string>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::reloader {

/// If somebody other than the operator wrote kBaselineAnnotation together with the pod template,
/// according to the managed fields: returns when that was, or the zero time when the fields do not
/// tell the time. Returns std::nullopt when the operator wrote the present value, when the writer
/// did not change the template, or when the managed fields do not tell.
///
/// `kubectl rollout undo` writes the annotations of an earlier revision together with its template.
/// Afterwards the baseline describes what that earlier revision ran with, while the new pods start
/// with the present data.
/// `template_is_stamped`: the template contains a variable or annotation of a rollout, which then
/// belongs to whoever restored the template. An undo that only removes a variable leaves no field
/// that belongs to it; such an undo is recognized by the name of the command.
std::optional<apimachinery::Time> BaselineRestoredAt(const api::meta::v1::ObjectMeta& metadata,
                                                     bool template_is_stamped);

/// When a command that undoes rollouts (`kubectl rollout undo`) last wrote the pod template or the
/// baseline. The managed fields do not show an undo that only removes fields.
std::optional<apimachinery::Time> UndoneAt(const api::meta::v1::ObjectMeta& metadata);

/// When somebody other than the operator last wrote the pod template, other than by a command that
/// undoes rollouts, in whole seconds. It may be the time of a later write of another field by the
/// same manager. Returns std::nullopt when the managed fields name nobody, or no time. They do not
/// show a write that only removes fields.
std::optional<apimachinery::Time> TemplateWrittenAt(const api::meta::v1::ObjectMeta& metadata);

/// When the operator last rolled the workload, in whole seconds: wrote its pod template, the time
/// at which Argo Rollouts restarts it, or that it has made a Job of the CronJob. Returns
/// std::nullopt when it has not, or the managed fields do not tell. It may be the time of a later
/// end of a pause, which makes pods, too.
std::optional<apimachinery::Time> OwnWrittenAt(const api::meta::v1::ObjectMeta& metadata);

/// Whether somebody other than the operator wrote the baseline on a workload. Returns false when
/// the managed fields do not tell.
bool IsBaselineForeign(const api::meta::v1::ObjectMeta& metadata);

/// Whether the operator itself created the object, together with the baseline that it still has.
/// A copy by anybody else belongs to that client. One that is given the managed fields of the
/// original, as by a restored backup, is younger than they say. Returns false when the managed
/// fields do not tell.
bool IsMadeWithBaseline(const api::meta::v1::ObjectMeta& metadata);

/// When anybody last wrote the data of a ConfigMap or Secret: the later of what its managed fields
/// say and its creation, in whole seconds. Returns std::nullopt when the managed fields do not
/// tell. An update that only removes fields does not change the managed fields and is not seen.
std::optional<apimachinery::Time> LastWritten(const api::meta::v1::ObjectMeta& metadata);

/// The same for each key of the data, as far as the managed fields list keys. The time of a key is
/// the latest of all writers who own the key; such a writer may have written other keys then.
std::map<std::string, apimachinery::Time> KeysLastWritten(
    const api::meta::v1::ObjectMeta& metadata);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_BASELINE_OWNER_H_
