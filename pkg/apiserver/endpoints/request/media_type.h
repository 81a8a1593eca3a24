/// @file
/// What a client accepts, and which form of answers that means.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_MEDIA_TYPE_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_MEDIA_TYPE_H_

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

/// One element of an Accept header: "application/json;as=Table;v=v1".
struct MediaType {
  std::string type{};  ///< without parameters, as it was sent
  std::map<std::string, std::string, std::less<>> parameters{};
  std::string_view Parameter(std::string_view name) const;
  /// Whether `offered`, "application/json", is what the client takes; "application/*" takes it,
  /// too.
  bool Takes(std::string_view offered) const;
};

/// In the client's order of preference, as kube-apiserver reads it: case counts, only blanks are
/// trimmed, a quality that is no number is 0, and what has the quality 0 comes last instead of
/// never. What is no media type is left out.
std::vector<MediaType> ParseAccept(std::string_view header);

/// The type of a request's body, in lower case, without parameters; "" when it says none.
std::string ContentTypeOf(const http::Request& request);

/// How an object is written in a body.
enum class BodyForm : std::uint8_t { kJson, kYaml, kProtobuf };

/// By what the request says, JSON when it says nothing; never by what the body looks like, which a
/// web page may send under a harmless name. kUnsupportedMediaType.
apimachinery::Result<BodyForm> BodyFormOf(const http::Request& request);

/// What objects are turned into.
enum class View : std::uint8_t { kObject, kTable, kPartialMetadata, kPartialMetadataList };

/// What the rows of a Table have of their objects: the parameter includeObject.
enum class RowObject : std::uint8_t { kMetadata, kObject, kNone };

/// The form of an answer.
struct AnswerForm {
  codec::Encoding encoding = codec::Encoding::kJson;
  View view = View::kObject;
  bool beta = false;  ///< the view is that of meta.k8s.io/v1beta1 instead of v1
  RowObject row_object = RowObject::kMetadata;  ///< of a Table
  /// Of the view: "meta.k8s.io/v1".
  std::string_view ViewVersion() const { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
  /// "application/json" or with the view's parameters.
  std::string ContentType() const;
};

/// What can be given.
struct Offer {
  bool protobuf = true;  ///< objects; their metadata can always be
  bool tables = true;
};

/// The offer for a resource: custom resources have no protobuf, and what is only posted and
/// answered (reviews, bindings, evictions, tokens) has no tables. `subresource` is null for the
/// resource itself.
Offer OfferOf(const ResourceType& type, const Subresource* subresource);

/// The first that the client accepts of what is offered; JSON when it accepts anything. Nothing:
/// 406.
std::optional<AnswerForm> Negotiate(std::string_view accept, const Offer& offer);

/// What the parameter includeObject asks for. kBadRequest.
apimachinery::Result<RowObject> RowObjectOf(std::string_view include_object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_MEDIA_TYPE_H_
