/// @file
/// DecodeStatus: decodes a meta/v1 Status.
#ifndef KUBEXX_REST_STATUS_BODY_H_
#define KUBEXX_REST_STATUS_BODY_H_

#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::rest {

/// Decodes a meta/v1 Status, in protobuf with or without its envelope, or in JSON. For error
/// responses and for the object of a watch's ERROR event; a "Success" is also decoded. kMalformed
/// when the bytes are something else.
apimachinery::Result<apimachinery::Status> DecodeStatus(codec::Encoding encoding,
                                                        std::string_view bytes);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_STATUS_BODY_H_
