/// @file
/// TlsSettings: the TLS settings of the connections to one server.
#ifndef KUBEXX_REST_INTERNAL_TLS_TLS_H_
#define KUBEXX_REST_INTERNAL_TLS_TLS_H_

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// Certificates and keys, which are read and checked once and are then applied to the context of
/// each new connection. OpenSSL verifies the chain, the validity, and the server's name or IP
/// address against the certificate's subject alternative names. As in Go, the common name is
/// ignored. Thread-safe.
class TlsSettings : public std::enable_shared_from_this<TlsSettings> {
 public:
  /// The server's certificate is verified against `host` unless `config.server_name` is set.
  /// kInvalidConfig names the file or field that cannot be used.
  static apimachinery::Result<std::shared_ptr<TlsSettings>> New(const TlsConfig& config,
                                                                const std::string& host);

  /// For TLS to a proxy whose name or address is `host`, on the way to the server of `config`. The
  /// proxy's certificate is verified with the system's authorities and those of `config`. Its
  /// server_name and client certificate have no effect: they are between client and server.
  static apimachinery::Result<std::shared_ptr<TlsSettings>> ForProxy(const TlsConfig& config,
                                                                     const std::string& host);

  /// Configures `context`. The TlsSettings must outlive all its handshakes. False when OpenSSL
  /// reports an error.
  bool Apply(SSL_CTX* context) const;

  /// Returns why verification rejected the last handshake, and forgets it; "" when it did not.
  std::string TakeVerifyError() const;

 private:
  template <class T, void (*Free)(T*)>
  struct Deleter {
    void operator()(T* object) const { Free(object); }
  };
  template <class T, void (*Free)(T*)>
  using Handle = std::unique_ptr<T, Deleter<T, Free>>;

  enum class Peer : std::uint8_t { kServer, kProxy };

  TlsSettings(const TlsConfig& config, const std::string& host, Peer peer);
  apimachinery::Result<void> LoadRoots(const TlsConfig& config);
  apimachinery::Result<void> LoadClientCertificate(const TlsConfig& config);
  bool ApplyClientCertificate(SSL_CTX* context) const;
  static void OnInfo(const SSL* ssl, int where, int ret);
  static int OnVerify(int ok, X509_STORE_CTX* store);
  std::string WhyRefused(int error) const;

  const Peer peer_;
  bool verify_;
  std::string name_;
  bool name_is_ip_ = false;
  // Null for the system's authorities, see system_roots.h.
  Handle<X509_STORE, X509_STORE_free> roots_;
  std::vector<Handle<X509, X509_free>> client_chain_;
  Handle<EVP_PKEY, EVP_PKEY_free> client_key_;
  mutable base::Mutex mu_;
  mutable std::string verify_error_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TLS_TLS_H_
