#include "kubexx/apiserver/endpoints/authn/authenticator.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {

using apimachinery::Result;

namespace {

/// Compares in a time that does not depend on where the texts differ. The length of a secret is no
/// secret: otherwise a stranger could keep a server that has many tokens busy with a long one.
bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Returns the text after the scheme, or "" for another scheme.
std::string_view BearerToken(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (base::ToLower(header.substr(0, kScheme.size())) != kScheme) {
    return {};
  }
  header.remove_prefix(kScheme.size());
  return header.substr(0, header.find(' '));
}

User Administrator() {
  return {.name = "admin", .groups = {"system:masters", "system:authenticated"}};
}

}  // namespace

Result<std::optional<User>> Authenticator::Authenticate(const http::Request& request) const {
  if (!request.peer.common_name.empty()) {
    User user{.name = request.peer.common_name, .groups = request.peer.organizations};
    user.groups.emplace_back("system:authenticated");
    return std::optional(std::move(user));
  }
  const std::string_view header = request.Header("Authorization");
  if (header.empty()) {
    return is_open() && !request.peer.refused ? std::optional(Administrator()) : std::nullopt;
  }
  KX_ASSIGN_OR_RETURN(std::optional<TokenOwner> owner,
                      FindToken(BearerToken(header), {std::string(kApiAudience)}, request.stop));
  return owner ? std::optional(std::move(owner->user)) : std::nullopt;
}

std::optional<std::string> Authenticator::Admits(const http::Request& request) const {
  if (!request.peer.common_name.empty()) {
    return request.peer.common_name;
  }
  const std::string_view header = request.Header("Authorization");
  if (header.empty()) {
    return is_open() && !request.peer.refused ? std::optional(Administrator().name) : std::nullopt;
  }
  const std::string_view token = BearerToken(header);
  if (const auto user = FindUser(token)) {
    return user->name;
  }
  return accounts_.UserOf(token, {std::string(kApiAudience)});
}

std::optional<User> Authenticator::FindUser(std::string_view token) const {
  if (token.empty()) {
    return std::nullopt;
  }
  if (SameSecret(token, token_.view())) {
    return Administrator();
  }
  for (const UserToken& other : others_) {
    if (SameSecret(token, other.token.view())) {
      User user = other.user;
      user.groups.emplace_back("system:authenticated");
      return user;
    }
  }
  return std::nullopt;
}

Result<std::optional<TokenOwner>> Authenticator::FindToken(
    std::string_view token, const std::vector<std::string>& audiences,
    const std::stop_token& stop) const {
  if (std::ranges::find(audiences, kApiAudience) != audiences.end()) {
    if (auto user = FindUser(token)) {
      return std::optional<TokenOwner>(
          {.user = std::move(*user), .audiences = {std::string(kApiAudience)}});
    }
  }
  return accounts_.Find(token, audiences, stop);
}

}  // namespace kubexx::apiserver
