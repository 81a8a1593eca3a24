/// @file
/// Reads the bodies of requests that are JSON or YAML.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Converts the body to JSON; of several YAML documents it takes the first. `form` must not be
/// kProtobuf. For `duplicates` see codec::YamlToJson. Returns kBadRequest for an invalid body.
apimachinery::Result<std::string> TextOfBody(const std::string& body, BodyForm form,
                                             std::vector<std::string>* duplicates = nullptr);

/// Parses a JSON object. As in Go, null counts as an object without members. Returns kBadRequest
/// for anything else.
apimachinery::Result<codec::JsonTree> ObjectOfJson(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_BODY_H_
