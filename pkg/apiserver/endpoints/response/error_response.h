/// @file
/// Makes responses from errors.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// A response with the code of `status` and the Status as JSON.
http::Response ErrorResponse(const apimachinery::Status& status);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_
