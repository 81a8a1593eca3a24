/// @file
/// What the server takes and the client should know about.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Says to whoever writes such an object that nothing will come of it, or of a part of it: a policy
/// that is taken and not applied would be worse than one that is refused. Of custom resources:
/// finalizers without a domain that are not among `old_finalizers`, those before the write.
void AppendTypeWarnings(const ResourceType& type, const std::vector<std::string>& old_finalizers,
                        const codec::JsonTree& object, std::vector<std::string>& warnings);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_TYPE_WARNINGS_H_
