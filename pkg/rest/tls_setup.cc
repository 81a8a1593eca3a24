#include "kubexx/rest/tls_setup.h"

#include <utility>

#include "kubexx/rest/internal/tls/tls.h"

namespace kubexx::rest {

using apimachinery::Result;

Result<TlsSetup> TlsSetup::New(const TlsConfig& config, const std::string& host) {
  KX_ASSIGN_OR_RETURN(std::shared_ptr<internal::TlsSettings> settings,
                      internal::TlsSettings::New(config, host));
  return TlsSetup(std::move(settings));
}

Result<TlsSetup> TlsSetup::ForProxy(const TlsConfig& config, const std::string& host) {
  KX_ASSIGN_OR_RETURN(std::shared_ptr<internal::TlsSettings> settings,
                      internal::TlsSettings::ForProxy(config, host));
  return TlsSetup(std::move(settings));
}

TlsSetup::TlsSetup(std::shared_ptr<internal::TlsSettings> settings)
    : settings_(std::move(settings)) {}

bool TlsSetup::Apply(ssl_ctx_st* context) const { return settings_->Apply(context); }

std::string TlsSetup::TakeVerifyError() const { return settings_->TakeVerifyError(); }

}  // namespace kubexx::rest
