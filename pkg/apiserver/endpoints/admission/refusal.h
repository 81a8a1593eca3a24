/// @file
/// How the admission refuses an object.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_REFUSAL_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_REFUSAL_H_

#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The error kForbidden for an object of the call's type. As apiserver's admission.NewForbidden.
apimachinery::Error NotAdmitted(const Call& call, const codec::JsonTree& object,
                                const std::string& why);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_REFUSAL_H_
