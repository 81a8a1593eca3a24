/// @file
/// The media types that a client accepts and sends, and the form of answers that follows from them.
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

/// The media type of JSON.
inline constexpr std::string_view kJsonType = "application/json";
/// The media type of Kubernetes' protobuf encoding.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// One element of an Accept header: "application/json;as=Table;v=v1".
struct MediaType {
  std::string type{};  ///< the type without parameters, as the client sent it
  std::map<std::string, std::string, std::less<>> parameters{};
  std::string_view Parameter(std::string_view name) const;
  /// Whether the client accepts the type `offered`, such as "application/json". The element
  /// "application/*" accepts it, too.
  bool Takes(std::string_view offered) const;
};

/// Parses an Accept header into the client's order of preference, with kube-apiserver's
/// peculiarities: the case of letters counts, only blanks are trimmed, a quality that is not a
/// number counts as 0, and elements with quality 0 come last instead of being excluded. Leaves out
/// invalid elements.
std::vector<MediaType> ParseAccept(std::string_view header);

/// The Content-Type of a request, in lower case and without parameters; "" when it has none.
std::string ContentTypeOf(const http::Request& request);

/// The encoding of an object in a request's body.
enum class BodyForm : std::uint8_t { kJson, kYaml, kProtobuf };

/// The form that the Content-Type of the request names; JSON when there is none. It never depends
/// on the content of the body, because a web page may send one under a harmless type. Returns
/// kUnsupportedMediaType for an unknown type.
apimachinery::Result<BodyForm> BodyFormOf(const http::Request& request);

/// What an answer shows of the objects: the objects themselves, a table, or their metadata.
enum class View : std::uint8_t { kObject, kTable, kPartialMetadata, kPartialMetadataList };

/// How much of its object a row of a Table contains: the parameter includeObject.
enum class RowObject : std::uint8_t { kMetadata, kObject, kNone };

/// The form of an answer.
struct AnswerForm {
  codec::Encoding encoding = codec::Encoding::kJson;
  View view = View::kObject;
  bool beta = false;  ///< the view is that of meta.k8s.io/v1beta1 instead of v1
  RowObject row_object = RowObject::kMetadata;  ///< of a Table
  /// The API version of the view, such as "meta.k8s.io/v1".
  std::string_view ViewVersion() const { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
  /// The Content-Type of the answer, such as "application/json", with the view's parameters if
  /// there is one.
  std::string ContentType() const;
};

/// The forms in which the server can answer a request.
struct Offer {
  bool protobuf = true;  ///< objects can be encoded as protobuf (their metadata always can)
  bool tables = true;
};

/// The forms for a resource. Custom resources have no protobuf; reviews, bindings, evictions and
/// tokens, which are only posted and answered, have no tables. `subresource` is null for the
/// resource itself.
Offer OfferOf(const ResourceType& type, const Subresource* subresource);

/// The first form in the client's order of preference that is offered; JSON when the client accepts
/// anything. std::nullopt means that the answer is 406.
std::optional<AnswerForm> Negotiate(std::string_view accept, const Offer& offer);

/// Reads the parameter includeObject. Returns kBadRequest for an unknown value.
apimachinery::Result<RowObject> RowObjectOf(std::string_view include_object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_MEDIA_TYPE_H_
