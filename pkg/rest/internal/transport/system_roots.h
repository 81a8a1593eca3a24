/// @file
/// The system's certificate authorities, read only when a handshake needs them.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_SYSTEM_ROOTS_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_SYSTEM_ROOTS_H_

#include <openssl/x509_vfy.h>

namespace kubexx::rest::internal {

/// Lets `store` find the system's authorities: OpenSSL's default file and directory, or those that
/// the environment names ($SSL_CERT_FILE, $SSL_CERT_DIR). They are read once in a process, at the
/// first certificate whose issuer is looked for, and shared. False when memory is short.
/// Thread-safe for different stores.
///
/// cpprestsdk asks OpenSSL for them at every connection, also when the authority is given and they
/// are dropped again: 43 ms and 3 MB for nothing. This package therefore also defines
/// SSL_CTX_set_default_verify_paths, in front of OpenSSL's, by this function.
bool AddSystemRoots(X509_STORE* store);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_SYSTEM_ROOTS_H_
