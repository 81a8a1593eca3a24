#include "kubexx/apiserver/endpoints/handlers/continue_token.h"

#include <filesystem>
#include <utility>

#include "kubexx/apiserver/endpoints/authn/jwt.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";
/// The first possible key after the last key of a page.
constexpr char kNext = '\0';

apimachinery::Error Bad(const std::string& why) {
  return Fail(Reason::kBadRequest, "invalid continue token: continue key is not valid" + why);
}

/// Whether the key stays within its list.
bool IsClean(std::string_view key) {
  const std::string path = "/" + std::string(key);
  return std::filesystem::path(path).lexically_normal().generic_string() == path &&
         !key.starts_with('/') && !key.ends_with('/');
}

}  // namespace

std::string ContinueToken::Encode() const {
  JsonTree token = JsonTree::Object();
  token["v"] = kTokenVersion;
  token["rv"] = revision;
  token["start"] = key + kNext;
  return ToBase64Url(token.ToJson());
}

Result<ContinueToken> ContinueToken::Decode(std::string_view text) {
  const auto json = FromBase64Url(text);
  if (!json) {
    return Bad(": illegal base64 data");
  }
  const auto tree = JsonTree::Parse(*json);
  if (!tree || !tree->IsObject()) {
    return Bad(": it holds no JSON object");
  }
  if (const std::string_view version = tree->TextAt("v"); version != kTokenVersion) {
    return Bad(": server does not recognize this encoded version " + std::string(version));
  }
  ContinueToken token;
  const JsonTree* const revision = tree->Find("rv");
  token.revision = revision == nullptr ? 0 : revision->AsInt().value_or(0);
  if (token.revision == 0) {
    return Bad(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  token.key = tree->TextAt("start");
  if (token.key.empty()) {
    return Bad(": encoded start key empty (version meta.k8s.io/v1)");
  }
  if (token.key.back() == kNext) {
    token.key.pop_back();
  }
  // kube-apiserver writes the token of a list of all namespaces like this.
  if (token.key.starts_with('/')) {
    token.key.erase(0, 1);
  }
  return IsClean(token.key) ? Result<ContinueToken>(std::move(token)) : Bad(": " + token.key);
}

}  // namespace kubexx::apiserver
