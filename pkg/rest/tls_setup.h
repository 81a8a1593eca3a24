/// @file
/// TlsSetup: TLS for a connection outside of RESTClient.
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

/// Configures contexts of OpenSSL as those of a client. Certificates and keys are read and checked
/// once. Thread-safe; copies share their data.
class TlsSetup {
 public:
  /// The server's certificate is verified against `host` unless `config.server_name` is set.
  /// kInvalidConfig names the file or field that cannot be used.
  static apimachinery::Result<TlsSetup> New(const TlsConfig& config, const std::string& host);

  /// For TLS to the proxy `host` on the way to a server. The proxy's certificate is verified with
  /// the system's authorities and those of `config`; the client presents none of its own. Errors
  /// are those of New.
  static apimachinery::Result<TlsSetup> ForProxy(const TlsConfig& config, const std::string& host);

  /// Configures `context`. The TlsSetup, or a copy of it, must outlive all its handshakes. False
  /// when OpenSSL reports an error.
  bool Apply(ssl_ctx_st* context) const;

  /// Returns why verification rejected the last handshake, and forgets it; "" when it did not.
  std::string TakeVerifyError() const;

 private:
  explicit TlsSetup(std::shared_ptr<internal::TlsSettings> settings);

  std::shared_ptr<internal::TlsSettings> settings_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_TLS_SETUP_H_
