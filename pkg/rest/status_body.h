/// @file
/// meta/v1 Status on the wire and in memory.
#ifndef KUBEXX_REST_STATUS_BODY_H_
#define KUBEXX_REST_STATUS_BODY_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::rest {

/// Decodes a meta/v1 Status: protobuf with or without its envelope, or JSON; for error responses
/// and for the object of a watch's ERROR event. kMalformed when the bytes are something else. A
/// "Success" is decoded too.
apimachinery::Result<apimachinery::Status> DecodeStatus(codec::Encoding encoding,
                                                        std::string_view bytes);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_STATUS_BODY_H_
