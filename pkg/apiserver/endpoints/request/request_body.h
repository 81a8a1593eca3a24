/// @file
/// Bodies of requests that are no protobuf.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The body as JSON; of several YAML documents the first. `form` is not kProtobuf. `duplicates`:
/// see codec::YamlToJson. kBadRequest.
apimachinery::Result<std::string> TextOfBody(const std::string& body, BodyForm form,
                                             std::vector<std::string>* duplicates = nullptr);

/// The object that `text` is; null is one without members, as for Go. kBadRequest for anything
/// else.
apimachinery::Result<codec::JsonTree> ObjectOfJson(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_
