#include "kubexx/discovery/internal/fetch.h"

#include "kubexx/codec/envelope.h"

namespace kubexx::discovery::internal {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using codec::Encoding;

namespace {

Result<void> Decode(const codec::TypeSchema& schema, const rest::Response& response, void* out) {
  if (response.encoding == Encoding::kJson) {
    return codec::DecodeJson(schema, response.body, out);
  }
  KX_ASSIGN_OR_RETURN(const codec::Envelope envelope, codec::ReadEnvelope(response.body));
  if (envelope.kind != schema.kind) {
    return Fail(Malformed("kind", "is \"" + std::string(envelope.kind) + "\", not \"" +
                                      std::string(schema.kind) + "\""));
  }
  return codec::DecodeProtobuf(schema, envelope.raw, out);
}

}  // namespace

Result<void> Fetch(rest::RESTClient& client, std::string_view path,
                   std::string_view accept_parameters, const codec::TypeSchema& schema, void* out,
                   const std::stop_token& stop) {
  rest::Request request = client.Get();
  request.AbsPath(path).Accept({Encoding::kProtobuf, Encoding::kJson});
  if (!accept_parameters.empty()) {
    request.AcceptParameters(accept_parameters);
  }
  KX_ASSIGN_OR_RETURN(const rest::Response response, request.Do(stop));
  if (auto decoded = Decode(schema, response, out); !decoded) {
    return Fail(decoded.error().WithContext(request.ToString()));
  }
  return {};
}

}  // namespace kubexx::discovery::internal
