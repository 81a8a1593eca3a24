/// @file
/// Lists whose elements have an identity: sets and maps.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema::internal {

/// A refusal names no more than these.
constexpr std::size_t kMaxCauses = 100;
/// And no more once they are so long: the path of each may be as long as the object.
constexpr std::size_t kMaxCauseBytes = 1 << 20;

/// A text that equal values share: without the order of members.
std::string SortedText(const codec::JsonTree& value);

/// The members that tell the elements of a map-like list apart.
codec::JsonTree KeysOf(const Schema& list, const codec::JsonTree& element);

/// Appends the elements of sets and maps that are there twice, and embedded resources without kind
/// and apiVersion: what kube-apiserver checks after the schema.
void CheckLists(const Schema& schema, const codec::JsonTree& value, const std::string& path,
                std::vector<apimachinery::StatusCause>& causes);

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_LISTS_H_
