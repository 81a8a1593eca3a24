/// @file
/// Warnings about objects that the server accepts.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Appends a warning when the server stores the object but does not act on it, or on a part of it;
/// a policy that is silently not applied would be worse than a refused one. For custom resources,
/// warns about finalizers without a domain that are not in `old_finalizers`, the finalizers before
/// the write.
void AppendTypeWarnings(const ResourceType& type, const std::vector<std::string>& old_finalizers,
                        const codec::JsonTree& object, std::vector<std::string>& warnings);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_
