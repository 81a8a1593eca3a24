#include "kubexx/rest/internal/stream_access.h"

#include "kubexx/rest/internal/credentials.h"
#include "kubexx/rest/internal/impersonation.h"
#include "kubexx/rest/internal/rest_metrics.h"

namespace kubexx::rest::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<StreamAccess> AccessFor(const Config& config, base::Clock& clock,
                               const std::stop_token& stop) {
  if (!config.proxy_url.empty()) {
    return Fail(Reason::kInvalidConfig,
                "proxy-url: exec, attach and port-forward cannot go through a proxy");
  }
  StreamAccess access;
  access.tls = config.tls;
  KX_ASSIGN_OR_RETURN(access.server, ParseServerUrl(config.host));
  const RestMetrics metrics(nullptr, {}, clock);
  KX_ASSIGN_OR_RETURN(const auto credentials, Credentials::New(config, clock, metrics));
  KX_ASSIGN_OR_RETURN(const Credentials::Credential credential, credentials->Get(stop));
  if (!credential.authorization.empty()) {
    access.headers.emplace_back("Authorization", credential.authorization);
  }
  if (credential.plugin != nullptr && !credential.plugin->certificate.empty()) {
    access.tls.cert_data = credential.plugin->certificate;
    access.tls.key_data = credential.plugin->key;
  }
  access.headers.emplace_back("User-Agent", config.user_agent);
  KX_ASSIGN_OR_RETURN(auto impersonation, ImpersonationHeaders(config.impersonate));
  for (auto& header : impersonation) {
    access.headers.push_back(std::move(header));
  }
  return access;
}

}  // namespace kubexx::rest::internal
