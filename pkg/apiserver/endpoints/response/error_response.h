/// @file
/// Errors as answers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// `status` as the body of its code.
http::Response ErrorResponse(const apimachinery::Status& status);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_ERROR_RESPONSE_H_
