/// @file
/// What a client accepts, and which form of answers that means.
#ifndef KUBEXX_APISERVER_ENDPOINTS_MEDIA_TYPE_H_
#define KUBEXX_APISERVER_ENDPOINTS_MEDIA_TYPE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/codec.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// The media types of the two encodings.
inline constexpr std::string_view kJsonType = "application/json";
/// See kJsonType.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// One element of an Accept header, or a Content-Type: "application/json;as=Table;v=v1".
struct MediaType {
  std::string type{};  ///< in lower case, without parameters
  std::map<std::string, std::string, std::less<>> parameters{};
  std::string_view Parameter(std::string_view name) const;
};

/// In the client's order of preference. What is no media type is left out.
std::vector<MediaType> ParseAccept(std::string_view header);

/// The type of a request's body, in lower case, without parameters; "" when it says none.
std::string ContentTypeOf(const http::Request& request);

/// How an object is written in a body.
enum class BodyForm : std::uint8_t { kJson, kYaml, kProtobuf };

/// By what the request says, JSON when it says nothing; never by what the body looks like, which a
/// web page may send under a harmless name. kUnsupportedMediaType.
apimachinery::Result<BodyForm> BodyFormOf(const http::Request& request);

/// What objects are turned into.
enum class View : std::uint8_t { kObject, kTable, kPartialMetadata };

/// The form of an answer.
struct AnswerForm {
  codec::Encoding encoding = codec::Encoding::kJson;
  View view = View::kObject;
  /// "application/json" or with the view's parameters.
  std::string ContentType() const;
};

/// The first that the server can give for objects of `type`; JSON when the client accepts anything.
/// Nothing: 406.
std::optional<AnswerForm> Negotiate(std::string_view accept, const ResourceType& type);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_MEDIA_TYPE_H_
