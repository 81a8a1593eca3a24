/// @file
/// AddSystemRoots: the system's certificate authorities, which are read only when a handshake needs
/// them.
#ifndef KUBEXX_REST_INTERNAL_TLS_SYSTEM_ROOTS_H_
#define KUBEXX_REST_INTERNAL_TLS_SYSTEM_ROOTS_H_

#include <openssl/x509_vfy.h>

namespace kubexx::rest::internal {

/// Makes `store` use the system's authorities: OpenSSL's default file and directory, or those that
/// the environment names ($SSL_CERT_FILE, $SSL_CERT_DIR). They are read once per process, when the
/// issuer of a certificate is first needed, and shared. Returns false when memory is short.
/// Thread-safe for different stores.
///
/// Without this function, cpprestsdk makes OpenSSL read the authorities for every connection, which
/// costs 43 ms and 3 MB, even when the client has authorities of its own and these are dropped
/// again. Therefore this package also overrides OpenSSL's SSL_CTX_set_default_verify_paths with
/// this function.
bool AddSystemRoots(X509_STORE* store);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TLS_SYSTEM_ROOTS_H_
