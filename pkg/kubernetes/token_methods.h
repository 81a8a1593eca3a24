/// @file
/// The subresource token of service accounts.
#ifndef KUBEXX_KUBERNETES_TOKEN_METHODS_H_
#define KUBEXX_KUBERNETES_TOKEN_METHODS_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/authentication/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/untyped_client.h"

namespace kubexx::kubernetes {

/// The subresource serviceaccounts/token. Thread-safe, cheap to copy.
class TokenMethods {
 public:
  using TokenRequest = api::authentication::v1::TokenRequest;

  TokenMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
               const apimachinery::ResourceInfo& resource);

  /// Creates a token for the service account `name`. The answer's status has the token and its
  /// expiry.
  apimachinery::Result<TokenRequest> CreateToken(std::string_view name, const TokenRequest& request,
                                                 const CreateOptions& options = {},
                                                 std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_TOKEN_METHODS_H_
