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

/// A bearer token and whose it is.
struct UserToken {
  apimachinery::Bytes token{};
  User user{};
};

/// The lines `token,user,uid,"group1,group2"` of a file as --token-auth-file takes it; the groups
/// may be left out, empty lines and those that begin with "#" do not count. kInvalidConfig with
/// the line's number; tokens are never in the message.
apimachinery::Result<std::vector<UserToken>> ParseTokenFile(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHN_TOKEN_FILE_H_
