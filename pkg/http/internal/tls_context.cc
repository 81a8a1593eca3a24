#include <utility>
// Asio needs <utility> first.
#include "kubexx/http/internal/openssl.h"
#include "kubexx/http/internal/tls_context.h"
#include "kubexx/logging/log.h"

namespace kubexx::http::internal {
namespace {

namespace ssl = boost::asio::ssl;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Of TLS 1.2; forward secrecy and authenticated encryption only. TLS 1.3 has no others.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// What clients may send: more than anybody needs, and little enough to be read for everybody who
/// connects.
constexpr int kMaxIntermediates = 8;
constexpr long kMaxChainBytes = 16 << 10;

bool Use(SSL_CTX* context, const ParsedKeyPair& pair) {
  bool ok = SSL_CTX_use_certificate(context, pair.chain.front().get()) == 1;
  for (std::size_t i = 1; i < pair.chain.size(); ++i) {
    ok = ok && SSL_CTX_add1_chain_cert(context, pair.chain[i].get()) == 1;
  }
  return ok && SSL_CTX_use_PrivateKey(context, pair.key.get()) == 1;
}

bool VerifyClients(SSL_CTX* context, const std::vector<Certificate>& authorities, bool optional) {
  bool ok = true;
  for (const Certificate& authority : authorities) {
    ok = ok && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) == 1 &&
         SSL_CTX_add_client_CA(context, authority.get()) == 1;
  }
  SSL_CTX_set_verify(context,
                     optional ? SSL_VERIFY_PEER : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  static char yes = 1;
  SSL_CTX_set_cert_verify_callback(context, VerifyClient, optional ? &yes : nullptr);
  SSL_CTX_set_verify_depth(context, kMaxIntermediates);
  SSL_CTX_set_max_cert_list(context, kMaxChainBytes);
  return ok;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> TlsContext::Make(const KeyPair& pair) const {
  KX_ASSIGN_OR_RETURN(const ParsedKeyPair parsed, ParseKeyPair(pair));
  std::vector<Certificate> authorities;
  if (!client_ca_.empty()) {
    KX_ASSIGN_OR_RETURN(authorities, ParseCertificates(client_ca_, "client CA"));
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  // Sessions are not resumed: a resumed one would outlive its certificate.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(native, kCiphers) != 1 || !Use(native, parsed) ||
      (!authorities.empty() && !VerifyClients(native, authorities, client_optional_))) {
    return Fail(Reason::kInvalidConfig, "TLS: " + TakeOpenSslError());
  }
  return context;
}

Result<void> TlsContext::Start() {
  pair_ = provider_();
  if (pair_ == nullptr) {
    return Fail(Reason::kInvalidConfig, "TLS: there is no certificate yet");
  }
  KX_ASSIGN_OR_RETURN(context_, Make(*pair_));
  return {};
}

std::shared_ptr<ssl::context> TlsContext::Current() {
  std::shared_ptr<const KeyPair> pair = provider_();
  if (pair != nullptr && pair != pair_) {
    pair_ = std::move(pair);
    if (auto context = Make(*pair_)) {
      context_ = std::move(*context);
    } else {
      logging::Error("Cannot use the new server certificate; the last one stays in use",
                     {{"error", context.error()}});
    }
  }
  return context_;
}

}  // namespace kubexx::http::internal
