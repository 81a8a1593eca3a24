#include "kubexx/http/internal/openssl.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

namespace kubexx::http::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// An encrypted key would make OpenSSL ask on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

/// Where a connection keeps that its client's certificate is not good.
int RefusedIndex() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

/// Whether a signature by the key is verified in about a millisecond at most: a client's own is,
/// before anything is known of the client.
bool IsCheap(const EVP_PKEY* key) {
  constexpr int kMaxRsaBits = 8192;
  constexpr int kMaxExponentBits = 64;
  const int kind = key == nullptr ? EVP_PKEY_NONE : EVP_PKEY_get_base_id(key);
  if (kind != EVP_PKEY_RSA && kind != EVP_PKEY_RSA_PSS) {
    return kind == EVP_PKEY_EC || kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448;
  }
  BIGNUM* exponent = nullptr;
  const bool small = EVP_PKEY_get_bits(key) <= kMaxRsaBits &&
                     EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
                     BN_num_bits(exponent) <= kMaxExponentBits;
  BN_free(exponent);
  return small;
}

Bio Memory(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

}  // namespace

std::string TakeOpenSslError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return reason == nullptr ? "not valid PEM" : reason;
}

Result<std::vector<Certificate>> ParseCertificates(std::string_view pem, const std::string& what) {
  ERR_clear_error();
  const Bio bio = Memory(pem);
  std::vector<Certificate> chain;
  while (Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    chain.push_back(std::move(certificate));
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = TakeOpenSslError();
  if (chain.empty() || !at_end) {
    return Fail(Reason::kInvalidConfig,
                what + ": " + (at_end ? "holds no PEM certificate" : reason));
  }
  return chain;
}

int VerifyClient(X509_STORE_CTX* check, void* lets_refused_in) {
  if (!IsCheap(X509_get0_pubkey(X509_STORE_CTX_get0_cert(check)))) {
    X509_STORE_CTX_set_error(check, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
  // It ends at the first problem: the signatures of a chain cost as much as its sender likes, and
  // are looked at only once it is known to end at an authority.
  if (X509_verify_cert(check) == 1) {
    return 1;
  }
  if (lets_refused_in == nullptr) {
    return 0;
  }
  static char mark = 1;
  auto* const connection =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx()));
  // Without memory for the mark the handshake fails.
  return SSL_set_ex_data(connection, RefusedIndex(), &mark);
}

bool WasRefused(const SSL& connection) {
  return SSL_get_ex_data(&connection, RefusedIndex()) != nullptr;
}

Peer SubjectOf(X509& certificate) {
  Peer peer;
  X509_NAME* const name = X509_get_subject_name(&certificate);
  const auto text_at = [name](int index) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
    std::string copy(reinterpret_cast<const char*>(text),
                     size < 0 ? 0 : static_cast<std::size_t>(size));
    // OPENSSL_free would put the path of this file into programs, which are the same in each clone.
    CRYPTO_free(text, "", 0);
    return copy;
  };
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;) {
    peer.organizations.push_back(text_at(at));
  }
  // Of several the last, as in Go's pkix.Name: whoever has been let in as one is not another here.
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_commonName, at)) >= 0;) {
    peer.common_name = text_at(at);
  }
  return peer;
}

Result<ParsedKeyPair> ParseKeyPair(const KeyPair& pair) {
  ParsedKeyPair parsed;
  KX_ASSIGN_OR_RETURN(parsed.chain, ParseCertificates(pair.certificate, "certificate"));
  parsed.key.reset(
      PEM_read_bio_PrivateKey(Memory(pair.key.view()).get(), nullptr, NoPassphrase, nullptr));
  if (!parsed.key) {
    return Fail(Reason::kInvalidConfig,
                "key: holds no usable PEM private key (" + TakeOpenSslError() + ")");
  }
  if (X509_check_private_key(parsed.chain.front().get(), parsed.key.get()) != 1) {
    (void)TakeOpenSslError();
    return Fail(Reason::kInvalidConfig, "key: is not the key of the certificate");
  }
  return parsed;
}

}  // namespace kubexx::http::internal
