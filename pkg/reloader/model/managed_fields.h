/// @file
/// Finds out from the managed fields of an object who wrote it.
#ifndef KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_
#define KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_

#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

/// The field manager of the operator's rollouts; the same as stakater/Reloader's.
inline constexpr std::string_view kFieldManager = "Reloader";

/// The field manager of the operator's writes of nothing but annotations: of baselines, say. They
/// leave the time of kFieldManager what it is, so that it tells of the last rollout. The record of
/// a CronJob's rollout, which is a Job, has that one.
inline constexpr std::string_view kRecordsManager = "Reloader-records";

/// Whether the entry belongs to the operator (any replica) or to stakater/Reloader.
bool IsOfOperator(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether the entry belongs to no particular writer: the API server uses it for fields that are
/// older than its managed fields, or for several writers that it has merged.
bool IsUnknownManager(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether the entry belongs to a command with which a person undoes a rollout.
bool IsOfUndo(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether the entry belongs to a tool that keeps the object as it is described elsewhere: every
/// writer that uses Apply, and some tools that are known by name.
bool IsOfTool(const api::meta::v1::ManagedFieldsEntry& entry);

/// When the manager of `entry`, whose fields are `fields`, wrote the pod template. Returns the zero
/// time when the manager also owns a field that no undo restores (another field of spec, a label,
/// or the manifest that `kubectl apply` stores): then the entry's time may be that of a later
/// write, such as `kubectl rollout pause`.
apimachinery::Time TimeOfTemplate(const api::meta::v1::ManagedFieldsEntry& entry,
                                  const codec::JsonTree& fields);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_
