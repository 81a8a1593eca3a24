#include "kubexx/rest/internal/tls/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <string_view>
#include <utility>

#include "kubexx/rest/internal/config/file.h"
#include "kubexx/rest/internal/tls/system_roots.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

using Bio = std::unique_ptr<BIO, decltype([](BIO* bio) { BIO_free(bio); })>;

Bio Memory(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

std::string OpenSslReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "not valid PEM" : reason;
}

// Without this function, OpenSSL would ask on the terminal for the passphrase of an encrypted key.
int NoPassphrase(char*, int, int, void*) { return -1; }

// PEM from the inline data or otherwise from the file, and its name for errors.
struct Pem {
  std::string bytes{};
  std::string origin{};
};

Result<Pem> ReadPem(const std::string& data, const std::string& file, std::string_view field) {
  if (!data.empty()) {
    return Pem{.bytes = data, .origin = std::string(field) + "-data"};
  }
  KX_ASSIGN_OR_RETURN(std::string bytes, ReadConfigFile(file, std::string(field)));
  return Pem{.bytes = std::move(bytes), .origin = std::string(field) + " " + file};
}

int SettingsIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

const TlsSettings* SettingsOf(const SSL* ssl) {
  return static_cast<const TlsSettings*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), SettingsIndex()));
}

bool IsIp(const std::string& name) {
  std::array<unsigned char, 16> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

}  // namespace

TlsSettings::TlsSettings(const TlsConfig& config, const std::string& host, Peer peer)
    : peer_(peer),
      verify_(!config.insecure_skip_verify),
      name_(config.server_name.empty() ? host : config.server_name) {
  name_is_ip_ = IsIp(name_);
}

Result<std::shared_ptr<TlsSettings>> TlsSettings::New(const TlsConfig& config,
                                                      const std::string& host) {
  std::shared_ptr<TlsSettings> settings(new TlsSettings(config, host, Peer::kServer));
  KX_RETURN_IF_ERROR(settings->LoadRoots(config));
  KX_RETURN_IF_ERROR(settings->LoadClientCertificate(config));
  return settings;
}

Result<std::shared_ptr<TlsSettings>> TlsSettings::ForProxy(const TlsConfig& config,
                                                           const std::string& host) {
  const TlsConfig of_proxy{.insecure_skip_verify = config.insecure_skip_verify,
                           .ca_file = config.ca_file,
                           .ca_data = config.ca_data};
  std::shared_ptr<TlsSettings> settings(new TlsSettings(of_proxy, host, Peer::kProxy));
  KX_RETURN_IF_ERROR(settings->LoadRoots(of_proxy));
  // Without authorities of the config, the context has the system's in any case.
  if (settings->roots_ && !AddSystemRoots(settings->roots_.get())) {
    return Fail(Reason::kInvalidConfig, "cannot set up TLS");
  }
  return settings;
}

Result<void> TlsSettings::LoadRoots(const TlsConfig& config) {
  if (config.ca_data.empty() && config.ca_file.empty()) {
    return {};
  }
  if (config.insecure_skip_verify) {
    return Fail(Reason::kInvalidConfig,
                "certificate-authority cannot be combined with insecure-skip-tls-verify");
  }
  KX_ASSIGN_OR_RETURN(const Pem pem,
                      ReadPem(config.ca_data, config.ca_file, "certificate-authority"));
  roots_.reset(X509_STORE_new());
  const Bio bio = Memory(pem.bytes);
  int count = 0;
  while (Handle<X509, X509_free> certificate{
      PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    X509_STORE_add_cert(roots_.get(), certificate.get());
    ++count;
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = OpenSslReason();
  if (count == 0 || !at_end) {
    return Fail(Reason::kInvalidConfig,
                pem.origin + ": " + (at_end ? "holds no PEM certificate" : reason));
  }
  return {};
}

Result<void> TlsSettings::LoadClientCertificate(const TlsConfig& config) {
  const bool has_cert = !config.cert_data.empty() || !config.cert_file.empty();
  const bool has_key = !config.key_data.empty() || !config.key_file.empty();
  if (!has_cert && !has_key) {
    return {};
  }
  if (has_cert != has_key) {
    return Fail(Reason::kInvalidConfig, has_cert
                                            ? "client-certificate is set but client-key is not"
                                            : "client-key is set but client-certificate is not");
  }
  KX_ASSIGN_OR_RETURN(const Pem cert,
                      ReadPem(config.cert_data, config.cert_file, "client-certificate"));
  KX_ASSIGN_OR_RETURN(Pem key, ReadPem(config.key_data, config.key_file, "client-key"));
  const Bio cert_bio = Memory(cert.bytes);
  while (Handle<X509, X509_free> certificate{
      PEM_read_bio_X509(cert_bio.get(), nullptr, NoPassphrase, nullptr)}) {
    client_chain_.push_back(std::move(certificate));
  }
  std::string reason = OpenSslReason();
  if (client_chain_.empty()) {
    return Fail(Reason::kInvalidConfig,
                cert.origin + ": holds no PEM certificate (" + reason + ")");
  }
  client_key_.reset(
      PEM_read_bio_PrivateKey(Memory(key.bytes).get(), nullptr, NoPassphrase, nullptr));
  reason = OpenSslReason();
  OPENSSL_cleanse(key.bytes.data(), key.bytes.size());
  if (!client_key_) {
    return Fail(Reason::kInvalidConfig,
                key.origin + ": holds no usable PEM private key (" + reason + ")");
  }
  if (X509_check_private_key(client_chain_.front().get(), client_key_.get()) != 1) {
    ERR_clear_error();
    return Fail(Reason::kInvalidConfig, key.origin + ": is not the key of " + cert.origin);
  }
  return {};
}

bool TlsSettings::Apply(SSL_CTX* context) const {
  bool ok = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
  // Otherwise the plain text of a record would stay in a buffer of 16 KiB, which a quiet watch
  // would keep for good.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  if (roots_) {
    SSL_CTX_set1_cert_store(context, roots_.get());  // these replace the system's authorities
  }
  if (verify_) {
    X509_VERIFY_PARAM* param = SSL_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (roots_) {
      // As in Go, a trusted certificate need be neither an authority's nor signed by itself.
      X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
    }
    ok = ok && (name_is_ip_ ? X509_VERIFY_PARAM_set1_ip_asc(param, name_.c_str())
                            : X509_VERIFY_PARAM_set1_host(param, name_.c_str(), 0)) == 1;
    // cpprestsdk verifies the certificate as well. This would remain if it stopped doing so.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, OnVerify);
  }
  ok = ok && SSL_CTX_set_ex_data(context, SettingsIndex(), const_cast<TlsSettings*>(this)) == 1;
  SSL_CTX_set_info_callback(context, OnInfo);
  return ok && ApplyClientCertificate(context);
}

bool TlsSettings::ApplyClientCertificate(SSL_CTX* context) const {
  if (client_chain_.empty()) {
    return true;
  }
  bool ok = SSL_CTX_use_certificate(context, client_chain_.front().get()) == 1;
  for (std::size_t i = 1; i < client_chain_.size(); ++i) {
    ok = ok && SSL_CTX_add1_chain_cert(context, client_chain_[i].get()) == 1;
  }
  return ok && SSL_CTX_use_PrivateKey(context, client_key_.get()) == 1;
}

// cpprestsdk sets the name that it verifies and sends (SNI) from the URL or the Host header,
// accepts no other name, and compares the common name, too. At the start of the handshake, before
// anything is sent, this function puts our own name and check in place. If it were not called,
// cpprestsdk's stricter check against the URL's host would stay.
void TlsSettings::OnInfo(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0) {
    return;
  }
  const TlsSettings* self = SettingsOf(ssl);
  auto* session = const_cast<SSL*>(ssl);
  SSL_set_tlsext_host_name(session,
                           self->name_is_ip_ ? nullptr : const_cast<char*>(self->name_.c_str()));
  if (self->verify_) {
    SSL_set_verify(session, SSL_VERIFY_PEER, OnVerify);
  }
}

int TlsSettings::OnVerify(int ok, X509_STORE_CTX* store) {
  if (ok == 1) {
    return 1;
  }
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const TlsSettings* self = SettingsOf(ssl);
  const int error = X509_STORE_CTX_get_error(store);
  std::string text = self->WhyRefused(error);
  base::MutexLock lock(self->mu_);
  self->verify_error_ = std::move(text);
  return 0;
}

std::string TlsSettings::WhyRefused(int error) const {
  const bool proxy = peer_ == Peer::kProxy;
  const std::string text = X509_verify_cert_error_string(error);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return std::string(proxy ? "the proxy" : "the server") + "'s certificate is not valid for " +
             name_;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return proxy ? text +
                         "; neither the system's authorities nor the config's have signed the "
                         "proxy's certificate"
                   : text;
    default:
      return text;
  }
}

std::string TlsSettings::TakeVerifyError() const {
  base::MutexLock lock(mu_);
  return std::exchange(verify_error_, {});
}

}  // namespace kubexx::rest::internal
