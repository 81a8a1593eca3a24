/// @file
/// Giving an object the shape of its schema: without fields that are not in it, with defaults.
#ifndef KUBEXX_APISERVER_SCHEMA_SHAPE_H_
#define KUBEXX_APISERVER_SCHEMA_SHAPE_H_

#include <cstddef>

#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// What defaults may add to one object, in bytes of JSON: as much as kube-apiserver takes in a
/// request, and twice what etcd stores in one value.
inline constexpr std::size_t kMaxDefaultBytes = 3 << 20;

/// Takes out the members of a whole object that the schema does not know; apiVersion, kind and
/// metadata stay. Whether there were any.
bool Prune(const Schema& schema, codec::JsonTree& object);

/// Fills in defaults where a member is missing, or null without being nullable, and takes out
/// other such nulls. A default of an element is there as often as there are elements: `room` is how
/// many bytes of JSON may be added, and becomes what is left of it. False where they are too few:
/// then `value` has some of its defaults.
[[nodiscard]] bool SetDefaults(const Schema& schema, codec::JsonTree& value, std::size_t& room);

/// Prune for a value that is no whole object: a default.
bool PruneValue(const Schema& schema, codec::JsonTree& value);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_SHAPE_H_
