/// @file
/// The input and output of a credential plugin: client.authentication.k8s.io ExecCredential.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// The credentials of a plugin. The destructor wipes the strings; it is not copyable, so that no
/// copy remains in memory.
struct ExecCredential {
  ExecCredential() = default;
  ExecCredential(ExecCredential&&) = default;
  ExecCredential& operator=(ExecCredential&&) = default;
  ~ExecCredential();

  std::string token{};        ///< "" when there is none
  std::string certificate{};  ///< PEM; set if and only if `key` is
  std::string key{};          ///< PEM
  std::optional<base::WallTime> expiration{};
};

/// Returns the value of KUBERNETES_EXEC_INFO. Reads the CA file of `config` when the plugin needs
/// the cluster's data; kInvalidConfig when it cannot be read.
apimachinery::Result<std::string> ExecInfo(const Config& config, bool interactive);

/// Parses the output of a plugin. kMalformed says what is wrong without quoting the output.
apimachinery::Result<ExecCredential> ParseExecCredential(const std::string& api_version,
                                                         std::string_view text);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_EXEC_CREDENTIAL_H_
