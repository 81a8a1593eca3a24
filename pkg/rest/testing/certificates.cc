#include "kubexx/rest/testing/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace kubexx::rest::testing {
namespace {

using Bio = std::unique_ptr<BIO, decltype([](BIO* bio) { BIO_free(bio); })>;
using Key = std::unique_ptr<EVP_PKEY, decltype([](EVP_PKEY* key) { EVP_PKEY_free(key); })>;
using Cert = std::unique_ptr<X509, decltype([](X509* cert) { X509_free(cert); })>;

void Check(bool ok, const char* what) {
  if (!ok) {
    std::fprintf(stderr, "certificates for tests: %s failed\n", what);
    std::abort();
  }
}

std::string Text(BIO* bio) {
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(length)};
}

Bio Memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Cert ReadCertificate(const std::string& pem) {
  Cert cert(PEM_read_bio_X509(Memory(pem).get(), nullptr, nullptr, nullptr));
  Check(cert != nullptr, "reading a certificate");
  return cert;
}

Key ReadKey(const std::string& pem) {
  Key key(PEM_read_bio_PrivateKey(Memory(pem).get(), nullptr, nullptr, nullptr));
  Check(key != nullptr, "reading a key");
  return key;
}

void AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Check(extension != nullptr && X509_add_ext(cert, extension, -1) == 1, value.c_str());
  X509_EXTENSION_free(extension);
}

// When `issuer` is null, the certificate is that of an authority and signed by itself.
CertificateAndKey Make(const CertificateRequest& request, const CertificateAndKey* issuer) {
  static std::atomic<long> serial = 1;
  const Key key(EVP_EC_gen("P-256"));
  const Cert cert(X509_new());
  Check(key != nullptr && cert != nullptr, "allocation");
  X509_set_version(cert.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), request.not_before.count());
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), request.not_after.count());
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.c_str()),
                             -1, -1, 0);
  const Cert issuer_cert = issuer == nullptr ? nullptr : ReadCertificate(issuer->certificate);
  const Key issuer_key = issuer == nullptr ? nullptr : ReadKey(issuer->key);
  X509* signer = issuer_cert ? issuer_cert.get() : cert.get();
  X509_set_issuer_name(cert.get(), X509_get_subject_name(signer));
  AddExtension(cert.get(), signer, NID_basic_constraints,
               issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(cert.get(), signer, NID_subject_key_identifier, "hash");
  if (!request.alternative_names.empty()) {
    AddExtension(cert.get(), signer, NID_subject_alt_name, request.alternative_names);
  }
  Check(X509_sign(cert.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0,
        "signing");
  const Bio cert_out(BIO_new(BIO_s_mem()));
  const Bio key_out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(cert_out.get(), cert.get());
  PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {.certificate = Text(cert_out.get()), .key = Text(key_out.get())};
}

int ChooseHttp2(SSL*, const unsigned char** chosen, unsigned char* size,
                const unsigned char* offered, unsigned offered_size, void*) {
  for (unsigned at = 0; at < offered_size; at += offered[at] + 1U) {
    if (offered[at] == 2 && at + 2 < offered_size && std::memcmp(&offered[at + 1], "h2", 2) == 0) {
      *chosen = &offered[at + 1];
      *size = 2;
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

CertificateAuthority::CertificateAuthority(const std::string& common_name)
    : self_(Make({.common_name = common_name}, nullptr)) {}

CertificateAndKey CertificateAuthority::Issue(const CertificateRequest& request) const {
  return Make(request, &self_);
}

void* NewServerContext(const FakeServerTls& tls) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  Check(SSL_CTX_use_certificate(context, ReadCertificate(tls.certificate).get()) == 1,
        "server certificate");
  Check(SSL_CTX_use_PrivateKey(context, ReadKey(tls.key).get()) == 1, "server key");
  if (!tls.client_ca.empty()) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ReadCertificate(tls.client_ca).get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (tls.http2) {
    SSL_CTX_set_alpn_select_cb(context, ChooseHttp2, nullptr);
  }
  return context;
}

}  // namespace kubexx::rest::testing
