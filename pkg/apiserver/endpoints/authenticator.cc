#include "kubexx/apiserver/endpoints/authenticator.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kubexx::apiserver {
namespace {

/// In a time that does not depend on where they differ.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? '\0' : b[i % b.size()]));
  }
  return difference == 0;
}

User Administrator() {
  return {.name = "admin", .groups = {"system:masters", "system:authenticated"}};
}

}  // namespace

std::optional<User> Authenticator::Authenticate(const http::Request& request) const {
  if (!request.peer.common_name.empty()) {
    User user{.name = request.peer.common_name, .groups = request.peer.organizations};
    user.groups.emplace_back("system:authenticated");
    return user;
  }
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.Header("Authorization");
  if (!header.starts_with(kScheme)) {
    return token_.empty() ? std::optional(Administrator()) : std::nullopt;
  }
  if (auto owner =
          FindToken(header.substr(kScheme.size()), {std::string(kApiAudience)}, request.stop)) {
    return std::move(owner->user);
  }
  return token_.empty() && others_.empty() ? std::optional(Administrator()) : std::nullopt;
}

std::optional<TokenOwner> Authenticator::FindToken(std::string_view token,
                                                   const std::vector<std::string>& audiences,
                                                   const std::stop_token& stop) const {
  TokenOwner owner;
  if (std::ranges::find(audiences, kApiAudience) != audiences.end()) {
    owner.audiences.emplace_back(kApiAudience);
    if (SameSecret(token, token_.view()) && !token_.empty()) {
      owner.user = Administrator();
      return owner;
    }
    for (const UserToken& other : others_) {
      if (SameSecret(token, other.token.view())) {
        owner.user = other.user;
        owner.user.groups.emplace_back("system:authenticated");
        return owner;
      }
    }
  }
  return accounts_.Find(token, audiences, stop);
}

}  // namespace kubexx::apiserver
