#include "kubexx/kubernetes/token_methods.h"

#include <utility>

namespace kubexx::kubernetes {

using apimachinery::Result;

TokenMethods::TokenMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                           const apimachinery::ResourceInfo& resource)
    : client_(std::move(client), std::move(namespace_), resource, codec::SchemaOf<TokenRequest>()) {
}

Result<TokenMethods::TokenRequest> TokenMethods::CreateToken(std::string_view name,
                                                             const TokenRequest& request,
                                                             const CreateOptions& options,
                                                             std::stop_token stop) const {
  TokenRequest out;
  KX_RETURN_IF_ERROR(client_.Create(
      {.namespace_ = request.metadata.namespace_, .name = name, .subresource = "token"}, &request,
      options, &out, std::move(stop)));
  return out;
}

}  // namespace kubexx::kubernetes
