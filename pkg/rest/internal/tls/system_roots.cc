#include "kubexx/rest/internal/tls/system_roots.h"

#include <openssl/ssl.h>

#include <memory>

namespace kubexx::rest::internal {
namespace {

// The store is never freed, because the stores of connections may use it until the very end of the
// process.
X509_STORE* SystemStore() {
  static X509_STORE* const store = [] {
    X509_STORE* made = X509_STORE_new();
    if (made != nullptr) {
      X509_STORE_set_default_paths(made);  // A missing file counts as an empty one.
    }
    return made;
  }();
  return store;
}

// Copies the system's certificates under `name` into the store that asks, as OpenSSL's lookup of
// directories does. Several authorities may share a name, and the store then tries each.
int BySubject(X509_LOOKUP* lookup, X509_LOOKUP_TYPE type, const X509_NAME* name,
              X509_OBJECT* found) {
  X509_STORE* const system = SystemStore();
  if (type != X509_LU_X509 || system == nullptr) {
    return 0;
  }
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> context(
      X509_STORE_CTX_new(), X509_STORE_CTX_free);
  if (!context || X509_STORE_CTX_init(context.get(), system, nullptr, nullptr) != 1) {
    return 0;
  }
  STACK_OF(X509)* const certificates = X509_STORE_CTX_get1_certs(context.get(), name);
  if (certificates == nullptr) {
    return 0;
  }
  for (int i = 0; i < sk_X509_num(certificates); ++i) {
    X509* const certificate = sk_X509_value(certificates, i);
    X509_STORE_add_cert(X509_LOOKUP_get_store(lookup), certificate);
    if (i == 0) {
      X509_OBJECT_set1_X509(found, certificate);
      X509_free(certificate);  // OpenSSL assumes that `found` is borrowed; the stores keep it alive
    }
  }
  const int any = sk_X509_num(certificates) > 0 ? 1 : 0;
  sk_X509_pop_free(certificates, X509_free);
  return any;
}

X509_LOOKUP_METHOD* Method() {
  static X509_LOOKUP_METHOD* const method = [] {
    X509_LOOKUP_METHOD* made = X509_LOOKUP_meth_new("the system's authorities, when needed");
    if (made != nullptr) {
      X509_LOOKUP_meth_set_get_by_subject(made, BySubject);
    }
    return made;
  }();
  return method;
}

}  // namespace

bool AddSystemRoots(X509_STORE* store) {
  return Method() != nullptr && X509_STORE_add_lookup(store, Method()) != nullptr;
}

}  // namespace kubexx::rest::internal

// The linker finds this before OpenSSL's own function, for cpprestsdk and for all other code in the
// program.
extern "C" int SSL_CTX_set_default_verify_paths(SSL_CTX* context) {
  return kubexx::rest::internal::AddSystemRoots(SSL_CTX_get_cert_store(context)) ? 1 : 0;
}
