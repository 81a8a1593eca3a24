#include "kubexx/apiserver/server/server_identity.h"

#include <optional>
#include <utility>

#include "kubexx/apiserver/server/serving_certificate.h"
#include "kubexx/base/identity.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kIdentityKey = "/kubexx/server-identity";

/// Identities of older servers have no authority, but a certificate that signed itself.
bool HasAuthority(const JsonTree& kept) {
  return !kept.TextAt("authority").empty() && !kept.TextAt("authorityKey").empty();
}

}  // namespace

Result<ServerIdentity> KeepIdentity(storage::Storage& storage, base::Clock& clock,
                                    const std::stop_token& stop) {
  JsonTree kept;
  const auto update = [&](const storage::KeyValue& current) -> Result<std::optional<std::string>> {
    std::string token;
    if (current.mod_revision != 0) {
      auto read = JsonTree::Parse(*current.value);
      if (!read || read->TextAt("token").empty()) {
        return Fail(Reason::kInternalError,
                    "the server's identity, " + std::string(kIdentityKey) + ", is damaged");
      }
      kept = std::move(*read);
      if (HasAuthority(kept)) {
        return std::optional<std::string>();
      }
      token = kept.TextAt("token");
    } else {
      token = base::RandomUuid();
    }
    KX_ASSIGN_OR_RETURN(const http::KeyPair authority, NewServerAuthority(clock));
    kept = JsonTree::Object();
    kept["token"] = token;
    kept["authority"] = authority.certificate;
    kept["authorityKey"] = authority.key.view();
    return std::optional(kept.ToJson());
  };
  KX_RETURN_IF_ERROR(
      storage::GuaranteedUpdate(storage, kIdentityKey, update, {.create_if_missing = true}, stop));
  return ServerIdentity{
      .authority = {.certificate = std::string(kept.TextAt("authority")),
                    .key = apimachinery::Bytes(std::string(kept.TextAt("authorityKey")))},
      .token = apimachinery::Bytes(std::string(kept.TextAt("token")))};
}

std::string HostOfAddress(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  return host.empty() || host == "0.0.0.0" || host == "[::]" ? "127.0.0.1" : host;
}

}  // namespace kubexx::apiserver
