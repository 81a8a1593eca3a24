/// @file
/// OpenAPI v2: one document for all types.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_V2_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_V2_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers /openapi/v2 in JSON and protobuf. It makes the document at the first request, and again
/// when the served types have changed; it copies the parts of unchanged types from the previous
/// document. Thread-safe.
class OpenApiV2 {
 public:
  /// Returns std::nullopt for other paths. Answers with 304 when the client already has the
  /// document (If-None-Match), and with 406 when it accepts neither form.
  std::optional<http::Response> Serve(const http::Request& request,
                                      const std::vector<ResourceTypeRef>& types);

 private:
  /// A part of a document's text.
  struct Range {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  /// The parts of a document that are about one type, or about all built-in types together.
  struct Part {
    Range definitions{};
    Range paths{};
  };
  struct Document {
    std::vector<ResourceTypeRef> types{};
    Part builtin{};
    std::vector<Part> custom{};  ///< of the types that are custom resources, in their order
    std::string json{};
    std::string etag{};
  };
  using DocumentRef = std::shared_ptr<const Document>;

  class Writer;
  DocumentRef DocumentOf(const std::vector<ResourceTypeRef>& types);
  std::shared_ptr<const std::string> MessageOf(const DocumentRef& document);

  base::Mutex mu_;  // Held while a document is made, so that it is made once.
  DocumentRef document_ KX_GUARDED_BY(mu_);
  DocumentRef message_of_ KX_GUARDED_BY(mu_);  ///< which document message_ is
  std::shared_ptr<const std::string> message_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_V2_H_
