/// @file
/// What a credential plugin is told and what it says: client.authentication.k8s.io ExecCredential.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// Credentials of a plugin. Its strings are wiped with it; not copyable, so that none stays behind.
struct ExecCredential {
  ExecCredential() = default;
  ExecCredential(ExecCredential&&) = default;
  ExecCredential& operator=(ExecCredential&&) = default;
  ~ExecCredential();

  std::string token{};        ///< "" when there is none
  std::string certificate{};  ///< PEM, with `key` or not at all
  std::string key{};          ///< PEM
  std::optional<base::WallTime> expiration{};
};

/// The value of KUBERNETES_EXEC_INFO. Reads the CA file of `config` when the plugin wants to know
/// the cluster; kInvalidConfig when it cannot be read.
apimachinery::Result<std::string> ExecInfo(const Config& config, bool interactive);

/// Reads what a plugin printed. kMalformed says what is wrong, without any of the text.
apimachinery::Result<ExecCredential> ParseExecCredential(const std::string& api_version,
                                                         std::string_view text);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_
