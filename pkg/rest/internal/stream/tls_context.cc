#include "kubexx/rest/internal/stream/tls_context.h"

#include <openssl/err.h>

#include <cstddef>

#include "kubexx/rest/internal/tls/system_roots.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of bytes that OpenSSL takes from the socket at once: several records of 16 KiB in one
// call, instead of two calls per record. OpenSSL keeps the memory only while it holds bytes.
constexpr std::size_t kReadAheadBytes = 80 * 1024;

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::New(std::shared_ptr<TlsSettings> settings) {
  std::shared_ptr<TlsContext> context(
      new TlsContext(std::move(settings), SSL_CTX_new(TLS_client_method())));
  SSL_CTX* const made = context->get();
  // When the settings have authorities of their own, these replace the system's.
  if (made == nullptr || !AddSystemRoots(SSL_CTX_get_cert_store(made)) ||
      !context->settings_->Apply(made)) {
    ERR_clear_error();
    return Fail(Reason::kInvalidConfig, "cannot set up TLS");
  }
  SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(made, 1);
  SSL_CTX_set_default_read_buffer_len(made, kReadAheadBytes);
  return context;
}

}  // namespace kubexx::rest::internal
