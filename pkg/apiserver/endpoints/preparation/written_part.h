/// @file
/// How a write of a part of an object, such as its status, leaves the rest as it was.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITTEN_PART_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITTEN_PART_H_

#include <span>
#include <string_view>

#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The members of metadata, among those that clients set, that a write of the status does not
/// change, as in kube-apiserver's strategies.
std::span<const std::string_view> KeptByStatus(const ResourceType& type);

/// Sets `object` to `current` with the written part taken from `object`. For parts that are
/// subresources.
void KeepTheRest(const ResourceType& type, WritePart part, const codec::JsonTree& current,
                 codec::JsonTree& object);

/// The fields that the manager of a write does not become the owner of, because the write does not
/// change them. As GetResetFields of kube-apiserver's strategies.
managedfields::FieldSet IgnoredBy(const ResourceType& type, WritePart part);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITTEN_PART_H_
