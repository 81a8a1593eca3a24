/// @file
/// Owning pointers for OpenSSL's objects, and functions over them.
#ifndef KUBEXX_HTTP_INTERNAL_OPENSSL_H_
#define KUBEXX_HTTP_INTERNAL_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/certificate.h"
#include "kubexx/http/message.h"

namespace kubexx::http::internal {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Free>;

/// A parsed and checked KeyPair. `chain` begins with the certificate itself.
struct ParsedKeyPair {
  std::vector<Certificate> chain{};
  PrivateKey key{};
};

/// Parses all certificates of a PEM text; kInvalidConfig "<what>: ..." when there is none or a bad
/// one.
apimachinery::Result<std::vector<Certificate>> ParseCertificates(std::string_view pem,
                                                                 const std::string& what);

/// Parses and checks a pair. kInvalidConfig says what is wrong with it.
apimachinery::Result<ParsedKeyPair> ParseKeyPair(const KeyPair& pair);

/// Verifies a client's certificate at a bounded cost: anybody can send any certificates, so it does
/// not check a certificate whose key makes signatures expensive, and refuses that client. When
/// `lets_refused_in` is not null, other clients whose certificate is not valid may continue, so
/// that they get an answer over HTTP; see WasRefused. A callback for
/// SSL_CTX_set_cert_verify_callback.
int VerifyClient(X509_STORE_CTX* check, void* lets_refused_in);
/// Whether VerifyClient found the client's certificate invalid but let the client continue.
bool WasRefused(const SSL& connection);

/// Returns the common name and organisations of the certificate's subject.
Peer SubjectOf(X509& certificate);

/// Returns the reason of OpenSSL's oldest error, and clears all errors.
std::string TakeOpenSslError();

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_OPENSSL_H_
