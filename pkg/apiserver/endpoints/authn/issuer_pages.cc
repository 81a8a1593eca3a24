#include "kubexx/apiserver/endpoints/authn/issuer_pages.h"

#include <string>
#include <utility>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kConfiguration = "/.well-known/openid-configuration";
constexpr std::string_view kKeys = "/openid/v1/jwks";

JsonTree PageListOf(const char* only) {
  JsonTree list = JsonTree::Array();
  list.Append(only);
  return list;
}

http::Response Page(const char* type, const JsonTree& json) {
  http::Response response;
  response.content_type = type;
  response.body = json.ToJson();
  response.headers.emplace_back("Cache-Control", "public, max-age=3600");
  return response;
}

}  // namespace

std::optional<http::Response> ServeIssuer(std::string_view path, std::string_view url,
                                          const ServiceAccountTokens& tokens) {
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path == kKeys) {
    return Page("application/jwk-set+json", tokens.PublicKeys());
  }
  if (path != kConfiguration) {
    return std::nullopt;
  }
  JsonTree page = JsonTree::Object();
  page["issuer"] = kApiAudience;
  page["jwks_uri"] = std::string(url) + std::string(kKeys);
  page["response_types_supported"] = PageListOf("id_token");
  page["subject_types_supported"] = PageListOf("public");
  page["id_token_signing_alg_values_supported"] = PageListOf("ES256");
  return Page("application/json", page);
}

}  // namespace kubexx::apiserver
