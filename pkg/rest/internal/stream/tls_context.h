/// @file
/// TlsContext: one SSL_CTX for all streams to a server.
#ifndef KUBEXX_REST_INTERNAL_STREAM_TLS_CONTEXT_H_
#define KUBEXX_REST_INTERNAL_STREAM_TLS_CONTEXT_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/internal/tls/tls.h"

namespace kubexx::rest::internal {

/// The TLS settings of a server as OpenSSL takes them, made once for all connections. Thread-safe.
class TlsContext {
 public:
  /// kInvalidConfig when OpenSSL refuses the settings.
  static apimachinery::Result<std::shared_ptr<TlsContext>> New(
      std::shared_ptr<TlsSettings> settings);

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext() { SSL_CTX_free(context_); }

  SSL_CTX* get() const { return context_; }
  /// See TlsSettings.
  std::string TakeVerifyError() const { return settings_->TakeVerifyError(); }

 private:
  TlsContext(std::shared_ptr<TlsSettings> settings, SSL_CTX* context)
      : settings_(std::move(settings)), context_(context) {}

  const std::shared_ptr<TlsSettings> settings_;
  SSL_CTX* const context_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_TLS_CONTEXT_H_
