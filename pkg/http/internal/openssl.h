/// @file
/// Owners of OpenSSL's objects.
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

/// A KeyPair, read and checked. `chain` begins with the certificate itself.
struct ParsedKeyPair {
  std::vector<Certificate> chain{};
  PrivateKey key{};
};

/// All certificates of a PEM text; kInvalidConfig "<what>: ..." when there is none or a bad one.
apimachinery::Result<std::vector<Certificate>> ParseCertificates(std::string_view pem,
                                                                 const std::string& what);

/// kInvalidConfig says what is wrong with the pair.
apimachinery::Result<ParsedKeyPair> ParseKeyPair(const KeyPair& pair);

/// Verifies a client's certificate, at a cost that the client cannot choose: what is sent with it
/// need not be of anybody who is known. With `lets_refused_in` other than null a client goes on
/// whose certificate is not good, so that it can be told so over HTTP; see WasRefused. Those whose
/// key makes signatures dear do not. A callback of SSL_CTX_set_cert_verify_callback.
int VerifyClient(X509_STORE_CTX* check, void* lets_refused_in);
/// Whether VerifyClient has found the client's certificate not good and let it in.
bool WasRefused(const SSL& connection);

/// Common name and organisations of the certificate's subject.
Peer SubjectOf(X509& certificate);

/// The reason of OpenSSL's oldest error, and forgets all.
std::string TakeOpenSslError();

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_OPENSSL_H_
