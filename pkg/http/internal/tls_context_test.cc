// What a client's certificates may cost before the client is known.
#include "kubexx/http/internal/tls_context.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/http/internal/openssl.h"

namespace kubexx::http::internal {
namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* c) { SSL_CTX_free(c); })>;
using ConnectionPtr = std::unique_ptr<SSL, decltype([](SSL* s) { SSL_free(s); })>;

/// A certificate with its key.
struct Holder {
  PrivateKey key{};
  Certificate certificate{};
};

PrivateKey EcKey() { return PrivateKey(EVP_EC_gen("P-256")); }

/// With a public exponent of that many bits.
PrivateKey RsaKey(int bits, int exponent_bits) {
  BIGNUM* const exponent = BN_new();
  BN_set_bit(exponent, exponent_bits - 1);
  BN_set_bit(exponent, 0);
  EVP_PKEY_CTX* const maker = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nullptr);
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_keygen_init(maker), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(maker, bits), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set1_rsa_keygen_pubexp(maker, exponent), 1);
  EXPECT_EQ(EVP_PKEY_keygen(maker, &key), 1);
  EVP_PKEY_CTX_free(maker);
  BN_free(exponent);
  return PrivateKey(key);
}

void AddExtension(X509* certificate, int id, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// `issuer` "" for itself; `signer` signs.
Holder Make(const std::string& name, PrivateKey key, const std::string& issuer, EVP_PKEY* signer) {
  Holder made{.key = std::move(key), .certificate = Certificate(X509_new())};
  X509* const certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  const auto set_name = [](X509_NAME* in, const std::string& text) {
    X509_NAME_add_entry_by_txt(in, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0);
  };
  set_name(X509_get_subject_name(certificate), name);
  X509_NAME* const of_issuer = X509_NAME_new();
  set_name(of_issuer, issuer.empty() ? name : issuer);
  X509_set_issuer_name(certificate, of_issuer);
  X509_NAME_free(of_issuer);
  if (issuer.empty()) {
    AddExtension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  }
  X509_set_pubkey(certificate, made.key.get());
  EXPECT_GT(X509_sign(certificate, signer == nullptr ? made.key.get() : signer, EVP_sha256()), 0);
  return made;
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

/// How a server that asks for certificates meets a client that shows some.
class ClientChainTest : public ::testing::Test {
 protected:
  ClientChainTest() : authority_(Make("authority", EcKey(), "", nullptr)) {}

  /// `times` of `rest` follow the client's own. True when the handshake came to its end.
  bool Meet(const Holder& client, X509* rest, int times = 1) {
    auto pair = SelfSigned({"localhost"});
    EXPECT_TRUE(pair);
    TlsContext server(FixedCertificate(*pair), PemOf(authority_.certificate.get()), true);
    EXPECT_TRUE(server.Start());
    const ContextPtr context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_mode(context.get(), SSL_MODE_NO_AUTO_CHAIN);
    EXPECT_EQ(SSL_CTX_use_certificate(context.get(), client.certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), client.key.get()), 1);
    for (int i = 0; rest != nullptr && i < times; ++i) {
      EXPECT_EQ(SSL_CTX_add1_chain_cert(context.get(), rest), 1);
    }
    const auto settings = server.Current();
    theirs_.reset(SSL_new(context.get()));
    ours_.reset(SSL_new(settings->native_handle()));
    BIO* their_end = nullptr;
    BIO* our_end = nullptr;
    EXPECT_EQ(BIO_new_bio_pair(&their_end, 1 << 20, &our_end, 1 << 20), 1);
    SSL_set_bio(theirs_.get(), their_end, their_end);
    SSL_set_bio(ours_.get(), our_end, our_end);
    SSL_set_connect_state(theirs_.get());
    SSL_set_accept_state(ours_.get());
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(theirs_.get());
      SSL_do_handshake(ours_.get());
    }
    (void)TakeOpenSslError();
    return SSL_is_init_finished(ours_.get()) == 1;
  }
  bool Refused() const { return WasRefused(*ours_); }

  Holder authority_;
  ConnectionPtr theirs_;
  ConnectionPtr ours_;
};

TEST_F(ClientChainTest, OfAnAuthorityIsGood) {
  const Holder client = Make("client", RsaKey(2048, 17), "authority", authority_.key.get());
  EXPECT_TRUE(Meet(client, nullptr));
  EXPECT_FALSE(Refused());
  EXPECT_EQ(SSL_get_verify_result(ours_.get()), X509_V_OK);
}

/// The signature is bad, too, and nobody has seen it.
TEST_F(ClientChainTest, OfStrangersIsRefusedBeforeItsSignaturesAreVerified) {
  const Holder stranger = Make("stranger", EcKey(), "", nullptr);
  const Holder client = Make("client", EcKey(), "stranger", authority_.key.get());
  EXPECT_TRUE(Meet(client, stranger.certificate.get()));
  EXPECT_TRUE(Refused());
  EXPECT_EQ(SSL_get_verify_result(ours_.get()), X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN);
}

TEST_F(ClientChainTest, ThatIsLongEndsTheHandshake) {
  const Holder stranger = Make("stranger", EcKey(), "", nullptr);
  const Holder client = Make("client", EcKey(), "stranger", stranger.key.get());
  EXPECT_TRUE(Meet(client, stranger.certificate.get(), 10));
  EXPECT_FALSE(Meet(client, stranger.certificate.get(), 100));
}

/// Its own signature in the handshake would be verified.
TEST_F(ClientChainTest, WithADearKeyEndsTheHandshake) {
  EXPECT_TRUE(Meet(Make("client", RsaKey(2048, 17), "", nullptr), nullptr));
  EXPECT_TRUE(Refused());
  EXPECT_FALSE(Meet(Make("client", RsaKey(2048, 1000), "", nullptr), nullptr));
}

}  // namespace
}  // namespace kubexx::http::internal
