/// @file
/// The errors that the API's clients get, as Status objects.
#ifndef KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_
#define KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The HTTP code of a reason, as in apimachinery's errors. 500 for reasons that only clients use.
int HttpCode(apimachinery::Reason reason);

/// A meta/v1 Status of a failure as JSON. Reasons that exist only in this program become
/// InternalError.
std::string StatusJson(const apimachinery::Status& status);

/// The NotFound error in Kubernetes' wording. Like the following functions it fills in the details
/// of the Status.
apimachinery::Status NotFound(const ResourceType& type, std::string_view name);
/// The AlreadyExists error of a create.
apimachinery::Status AlreadyExists(const ResourceType& type, std::string_view name);
/// The Conflict error "Operation cannot be fulfilled on ...: `why`".
apimachinery::Status Conflict(const ResourceType& type, std::string_view name,
                              std::string_view why);
/// The Forbidden error "NAME is forbidden: `why`".
apimachinery::Status Forbidden(const ResourceType& type, std::string_view name,
                               std::string_view why);
/// The Invalid error. Its message lists the causes.
apimachinery::Status Invalid(const ResourceType& type, std::string_view name,
                             std::vector<apimachinery::StatusCause> causes);

/// The error "Too large resource version" with code 504 and Retry-After 1: the cache will not reach
/// `wanted` soon.
apimachinery::Status TooLargeResourceVersion(std::int64_t wanted, std::int64_t current);
/// The error Expired with code 410: the version `wanted` is older than `oldest`.
apimachinery::Status TooOldResourceVersion(std::int64_t wanted, std::int64_t oldest);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_
