/// @file
/// kube-apiserver's static token file.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHN_TOKEN_FILE_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHN_TOKEN_FILE_H_

#include <string_view>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/rbac/user.h"

namespace kubexx::apiserver {

/// A bearer token and its user.
struct UserToken {
  apimachinery::Bytes token{};
  User user{};
};

/// Reads the lines `token,user,uid,"group1,group2"` of a file for --token-auth-file. The groups are
/// optional; empty lines and lines that begin with "#" are ignored. Returns kInvalidConfig with the
/// number of the line; the message never has a token.
apimachinery::Result<std::vector<UserToken>> ParseTokenFile(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_TOKEN_FILE_H_
