#include "kubexx/apiserver/endpoints/authenticator.h"

#include <string_view>

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
  std::string_view header = request.Header("Authorization");
  if (!header.starts_with(kScheme)) {
    return token_.empty() ? std::optional(Administrator()) : std::nullopt;
  }
  header.remove_prefix(kScheme.size());
  if (SameSecret(header, token_.view()) && !token_.empty()) {
    return Administrator();
  }
  for (const UserToken& other : others_) {
    if (SameSecret(header, other.token.view())) {
      User user = other.user;
      user.groups.emplace_back("system:authenticated");
      return user;
    }
  }
  return token_.empty() && others_.empty() ? std::optional(Administrator()) : std::nullopt;
}

}  // namespace kubexx::apiserver
