/// @file
/// CertificateAuthority: makes certificates for tests of TLS.
#ifndef KUBEXX_REST_TESTING_CERTIFICATES_H_
#define KUBEXX_REST_TESTING_CERTIFICATES_H_

#include <chrono>
#include <string>
#include <utility>

#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// A certificate and its key in PEM.
struct CertificateAndKey {
  std::string certificate{};
  std::string key{};
};

/// The content of a certificate.
struct CertificateRequest {
  std::string common_name = "test";
  /// In the form of openssl's subjectAltName: "DNS:localhost,IP:127.0.0.1"; empty for none.
  std::string alternative_names{};
  std::chrono::seconds not_before = std::chrono::hours(-1);  ///< from now
  std::chrono::seconds not_after = std::chrono::hours(1);    ///< from now
};

/// A certificate authority with an EC key of its own. Aborts the test program when OpenSSL fails.
class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& common_name);
  /// An authority that exists already.
  explicit CertificateAuthority(CertificateAndKey self) : self_(std::move(self)) {}

  const std::string& certificate() const { return self_.certificate; }
  CertificateAndKey Issue(const CertificateRequest& request) const;

 private:
  CertificateAndKey self_;
};

/// Makes an SSL_CTX for a server; the caller owns it.
void* NewServerContext(const FakeServerTls& tls);

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_CERTIFICATES_H_
