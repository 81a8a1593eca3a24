/// @file
/// TlsContext: the TLS settings of a server, with certificates that may change.
#ifndef KUBEXX_HTTP_INTERNAL_TLS_CONTEXT_H_
#define KUBEXX_HTTP_INTERNAL_TLS_CONTEXT_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/certificate.h"

namespace kubexx::http::internal {

/// Makes the context of new connections, and makes a new one when the provider returns another
/// pair. Not thread-safe.
class TlsContext {
 public:
  /// `client_ca`: PEM of the authorities whose clients may connect; when empty, clients need no
  /// certificate. `client_optional`: clients without a certificate, or with an invalid one, may
  /// connect, too.
  TlsContext(CertificateProvider provider, std::string client_ca, bool client_optional = false)
      : provider_(std::move(provider)),
        client_ca_(std::move(client_ca)),
        client_optional_(client_optional) {}

  /// kInvalidConfig when the first pair cannot be used, or there is none.
  apimachinery::Result<void> Start();

  /// Returns the context for a new connection. When a later pair cannot be used, logs that once and
  /// keeps using the last good one.
  std::shared_ptr<boost::asio::ssl::context> Current();

 private:
  apimachinery::Result<std::shared_ptr<boost::asio::ssl::context>> Make(const KeyPair& pair) const;

  CertificateProvider provider_;
  std::string client_ca_;
  bool client_optional_;
  std::shared_ptr<const KeyPair> pair_;  // the last that was looked at, good or bad
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_TLS_CONTEXT_H_
