#include "kubexx/apiserver/server/server_identity.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "kubexx/base/identity.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kIdentityKey = "/kubexx/server-identity";
/// SelfSigned issues certificates for a year, so they are replaced before that.
constexpr std::chrono::hours kCertificateAge{24 * 335};

std::int64_t SecondsNow(base::Clock& clock) {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.Wall().time_since_epoch()).count();
}

JsonTree ListOf(const std::vector<std::string>& names) {
  JsonTree list = JsonTree::Array();
  for (const std::string& name : names) {
    list.Append(name);
  }
  return list;
}

bool IsCurrent(const JsonTree& kept, const std::vector<std::string>& names, std::int64_t now) {
  const JsonTree* const made = kept.Find("made");
  const JsonTree* const of = kept.Find("names");
  const std::int64_t since = made == nullptr ? 0 : made->AsInt().value_or(0);
  return of != nullptr && *of == ListOf(names) && since <= now &&
         now - since < std::chrono::seconds(kCertificateAge).count();
}

Result<void> Renew(JsonTree& kept, const std::vector<std::string>& names, std::int64_t now) {
  KX_ASSIGN_OR_RETURN(const http::KeyPair pair, http::SelfSigned(names));
  kept["certificate"] = pair.certificate;
  kept["key"] = pair.key.view();
  kept["names"] = ListOf(names);
  kept["made"] = now;
  return {};
}

}  // namespace

Result<ServerIdentity> KeepIdentity(storage::Storage& storage,
                                    const std::vector<std::string>& names, base::Clock& clock,
                                    const std::stop_token& stop) {
  const std::int64_t now = SecondsNow(clock);
  JsonTree kept;
  const auto update = [&](const storage::KeyValue& current) -> Result<std::optional<std::string>> {
    kept = JsonTree::Object();
    if (current.mod_revision != 0) {
      auto read = JsonTree::Parse(*current.value);
      if (!read || read->TextAt("token").empty()) {
        return Fail(Reason::kInternalError,
                    "the server's identity, " + std::string(kIdentityKey) + ", is damaged");
      }
      kept = std::move(*read);
      if (IsCurrent(kept, names, now)) {
        return std::optional<std::string>();
      }
    } else {
      kept["token"] = base::RandomUuid();
    }
    KX_RETURN_IF_ERROR(Renew(kept, names, now));
    return std::optional(kept.ToJson());
  };
  KX_RETURN_IF_ERROR(
      storage::GuaranteedUpdate(storage, kIdentityKey, update, {.create_if_missing = true}, stop));
  return ServerIdentity{
      .certificate = {.certificate = std::string(kept.TextAt("certificate")),
                      .key = apimachinery::Bytes(std::string(kept.TextAt("key")))},
      .token = apimachinery::Bytes(std::string(kept.TextAt("token")))};
}

std::string HostOfAddress(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  return host.empty() || host == "0.0.0.0" || host == "[::]" ? "127.0.0.1" : host;
}

}  // namespace kubexx::apiserver
