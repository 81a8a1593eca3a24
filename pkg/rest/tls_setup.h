/// @file
/// TLS of a connection that RESTClient does not make itself.
#ifndef KUBEXX_REST_TLS_SETUP_H_
#define KUBEXX_REST_TLS_SETUP_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/config.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace kubexx::rest {

namespace internal {
class TlsSettings;
}

/// Sets contexts of OpenSSL up as a client's own: certificates and keys are read and checked once.
/// Thread-safe; copies share what they know.
class TlsSetup {
 public:
  /// `host` is what the server is verified against unless `config.server_name` names another.
  /// kInvalidConfig names the file or field that cannot be used.
  static apimachinery::Result<TlsSetup> New(const TlsConfig& config, const std::string& host);

  /// Sets `context` up. The TlsSetup, or a copy, must outlive every handshake of it. False when
  /// OpenSSL refused something.
  bool Apply(ssl_ctx_st* context) const;

  /// Why the last handshake was refused by verification, and forgets it; "" when none was.
  std::string TakeVerifyError() const;

 private:
  explicit TlsSetup(std::shared_ptr<internal::TlsSettings> settings);

  std::shared_ptr<internal::TlsSettings> settings_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_TLS_SETUP_H_
