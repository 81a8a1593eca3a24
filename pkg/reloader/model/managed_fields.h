/// @file
/// What the managed fields of an object tell of those who wrote it.
#ifndef KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_
#define KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_

#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

/// Field manager of every write, as stakater/Reloader's.
inline constexpr std::string_view kFieldManager = "Reloader";

/// Whether it is the operator's, of whatever replica, or stakater/Reloader's.
bool IsOfOperator(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether it is of nobody in particular: of what was there before the API server began to note
/// managers, or of several that it has merged.
bool IsUnknownManager(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether it is of a command by which a person undoes a rollout.
bool IsOfUndo(const api::meta::v1::ManagedFieldsEntry& entry);

/// Whether it is of somebody who has a description of the object and sets the object back to that:
/// whoever applies, and tools known for it.
bool IsOfTool(const api::meta::v1::ManagedFieldsEntry& entry);

/// When the entry's manager wrote the pod template, given the entry's fields: zero when something
/// is its own, too, that no undo brings back (something else of spec, a label, the manifest that
/// `kubectl apply` keeps), since its time may be that of a later write, such as `kubectl rollout
/// pause`.
apimachinery::Time TimeOfTemplate(const api::meta::v1::ManagedFieldsEntry& entry,
                                  const codec::JsonTree& fields);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_MANAGED_FIELDS_H_
