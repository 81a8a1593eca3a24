/// @file
/// The user that sends a request.
#ifndef KUBEXX_APISERVER_RBAC_USER_H_
#define KUBEXX_APISERVER_RBAC_USER_H_

#include <string>
#include <vector>

namespace kubexx::apiserver {

/// A user, as UserInfo of authentication.k8s.io.
struct User {
  std::string name{};
  std::vector<std::string> groups{};
  std::string uid{};
  bool operator==(const User&) const = default;
};

/// The user of a token, and those of the requested audiences that the token is for.
struct TokenOwner {
  User user{};
  std::vector<std::string> audiences{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_RBAC_USER_H_
