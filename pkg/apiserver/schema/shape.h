/// @file
/// Shapes an object by its schema: removes unknown fields and fills in defaults.
#ifndef KUBEXX_APISERVER_SCHEMA_SHAPE_H_
#define KUBEXX_APISERVER_SCHEMA_SHAPE_H_

#include <cstddef>

#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// How many bytes of JSON defaults may add to one object: as many as kube-apiserver accepts in a
/// request, and twice what etcd stores in one value.
inline constexpr std::size_t kMaxDefaultBytes = 3 << 20;

/// Removes the members of a whole object that the schema does not know; apiVersion, kind and
/// metadata stay. Returns whether there were any.
bool Prune(const Schema& schema, codec::JsonTree& object);

/// Fills in defaults for members that are missing, or that are null without being nullable, and
/// removes other nulls that are not nullable. `room` is the number of bytes of JSON that may be
/// added, because a default of list elements is added to each element; the function subtracts what
/// it adds. Returns false when the room does not suffice; then `value` has only some of its
/// defaults.
[[nodiscard]] bool SetDefaults(const Schema& schema, codec::JsonTree& value, std::size_t& room);

/// The same as Prune for a value that is not a whole object, such as a default.
bool PruneValue(const Schema& schema, codec::JsonTree& value);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_SHAPE_H_
