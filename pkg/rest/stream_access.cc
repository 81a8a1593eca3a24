#include "kubexx/rest/stream_access.h"

#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/internal/sender.h"

namespace kubexx::rest {

using apimachinery::Result;

Result<StreamAccess> ClientAccess::For(RESTClient& client, const std::stop_token& stop) {
  return client.impl_->sender->AccessForStream(stop);
}

bool ClientAccess::Renew(RESTClient& client, const StreamAccess& refused) {
  return client.impl_->sender->RenewAccess(refused);
}

namespace internal {

Result<StreamAccess> Sender::AccessForStream(const std::stop_token& stop) {
  StreamAccess access{.server = server_, .proxy = transport_->proxy(), .tls = config_.tls};
  HttpRequest request;
  request.headers.emplace_back("User-Agent", config_.user_agent);
  KX_ASSIGN_OR_RETURN(const Credentials::Credential used,
                      AddCredentials(request, base::TimePoint::max(), stop));
  access.headers = std::move(request.headers);
  access.credential = used.generation;
  access.certificate = transport_->certificate_generation();
  if (used.plugin && !used.plugin->certificate.empty()) {
    access.tls.cert_data = used.plugin->certificate;
    access.tls.key_data = used.plugin->key;
  }
  return access;
}

bool Sender::RenewAccess(const StreamAccess& refused) {
  return RenewCredentials({.code = 401,
                           .refused = true,
                           .credential = refused.credential,
                           .certificate = refused.certificate});
}

}  // namespace internal
}  // namespace kubexx::rest
