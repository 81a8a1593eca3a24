#include "kubexx/http/certificate.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/http/internal/openssl.h"

namespace kubexx::http {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using internal::Bio;
using internal::Certificate;
using internal::PrivateKey;

constexpr auto kBackdated = std::chrono::hours(1);  // For clocks that are behind.
constexpr auto kLifetime = std::chrono::days(365);

bool SetTime(ASN1_TIME* time, base::WallTime wall) {
  return ASN1_TIME_set(time, std::chrono::system_clock::to_time_t(wall)) != nullptr;
}

// OpenSSL has no function from a certificate's time to seconds since the epoch.
std::optional<base::WallTime> WallTimeOf(const ASN1_TIME* time) {
  const std::unique_ptr<ASN1_TIME, decltype([](ASN1_TIME* t) { ASN1_TIME_free(t); })> epoch(
      ASN1_TIME_set(nullptr, 0));
  int days = 0;
  int seconds = 0;
  if (!epoch || ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) {
    return std::nullopt;
  }
  return base::WallTime() + std::chrono::days(days) + std::chrono::seconds(seconds);
}

bool IsIp(const std::string& name) {
  std::array<unsigned char, 16> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "" : ",";
    text += IsIp(name) ? "IP:" : "DNS:";
    text += name;
  }
  return text;
}

bool AddExtension(X509* issuer, X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  const bool ok = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return ok;
}

bool SetSerialNumber(X509* certificate) {
  std::array<unsigned char, 8> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) {
    return false;
  }
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) {
    number = number << 8 | byte;
  }
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1) == 1;
}

/// Who signs a certificate.
struct Signer {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

bool FillIn(X509* certificate, EVP_PKEY* key, const std::string& name, const Validity& validity) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  return X509_set_version(certificate, 2) == 1 && SetSerialNumber(certificate) &&
         SetTime(X509_getm_notBefore(certificate), validity.not_before) &&
         SetTime(X509_getm_notAfter(certificate), validity.not_after) &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(
             subject, "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(name.substr(0, 64).c_str()), -1, -1, 0) == 1;
}

bool Sign(X509* certificate, const Signer& signer) {
  return X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate)) == 1 &&
         X509_sign(certificate, signer.key, EVP_sha256()) > 0;
}

/// Makes a server's certificate of one that is filled in.
bool MakeServers(X509* certificate, const Signer& signer, const std::vector<std::string>& names) {
  X509* const issuer = signer.certificate;
  // Who has been given a self-signed one trusts it as it is. Of an authority rustls, and so
  // kube-rs, would take no server's.
  return AddExtension(issuer, certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         (names.empty() ||
          AddExtension(issuer, certificate, NID_subject_alt_name, AlternativeNames(names)));
}

/// The same for one that an authority signs, which strict clients want to say more.
bool MakeSigned(X509* certificate, const Signer& signer) {
  X509* const issuer = signer.certificate;
  return AddExtension(issuer, certificate, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(issuer, certificate, NID_ext_key_usage, "serverAuth") &&
         AddExtension(issuer, certificate, NID_subject_key_identifier, "hash") &&
         AddExtension(issuer, certificate, NID_authority_key_identifier, "keyid:always");
}

bool MakeAuthority(X509* certificate) {
  return AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") &&
         AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
         AddExtension(certificate, certificate, NID_subject_key_identifier, "hash");
}

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

/// The names without the brackets of a URL. They end up in OpenSSL's own little language, so others
/// than host names and addresses are an error.
Result<std::vector<std::string>> PlainNames(const std::vector<std::string>& names) {
  std::vector<std::string> bare = names;
  for (std::string& name : bare) {
    if (name.starts_with('[') && name.ends_with(']')) {
      name = name.substr(1, name.size() - 2);
    }
  }
  const auto is_plain = [](const std::string& name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return base::IsAlphanumeric(c) || c == '.' || c == '-' || c == ':' || c == '*';
    });
  };
  if (!std::ranges::all_of(bare, is_plain)) {
    return Fail(Reason::kInvalidConfig,
                "certificate of a server: a name is neither a host name nor an IP address");
  }
  return bare;
}

/// A certificate of this name with a new key, which `finish` completes and signs.
template <typename Finish>
Result<KeyPair> MakePair(const std::string& name, const Validity& validity, const Finish& finish) {
  const PrivateKey key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  const Bio certificate_out(BIO_new(BIO_s_mem()));
  const Bio key_out(BIO_new(BIO_s_secmem()));
  if (!key || !certificate || !certificate_out || !key_out ||
      !FillIn(certificate.get(), key.get(), name, validity) ||
      !finish(certificate.get(), key.get()) ||
      PEM_write_bio_X509(certificate_out.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return Fail(Reason::kInternalError,
                "certificate for " + name + ": " + internal::TakeOpenSslError());
  }
  return KeyPair{.certificate = TextOf(certificate_out.get()),
                 .key = apimachinery::Bytes(TextOf(key_out.get()))};
}

std::string CommonName(const std::vector<std::string>& names) {
  return names.empty() ? "localhost" : names.front();
}

}  // namespace

CertificateProvider FixedCertificate(KeyPair pair) {
  return [shared = std::make_shared<const KeyPair>(std::move(pair))] { return shared; };
}

Result<void> CheckKeyPair(const KeyPair& pair) {
  KX_RETURN_IF_ERROR(internal::ParseKeyPair(pair));
  return {};
}

Result<Validity> ValidityOf(const KeyPair& pair) {
  KX_ASSIGN_OR_RETURN(const auto chain,
                      internal::ParseCertificates(pair.certificate, "certificate"));
  const auto not_before = WallTimeOf(X509_get0_notBefore(chain.front().get()));
  const auto not_after = WallTimeOf(X509_get0_notAfter(chain.front().get()));
  if (!not_before || !not_after) {
    return Fail(Reason::kInvalidConfig, "certificate: its times cannot be read");
  }
  return Validity{.not_before = *not_before, .not_after = *not_after};
}

bool IsFor(const KeyPair& pair, const std::string& name) {
  const auto chain = internal::ParseCertificates(pair.certificate, "certificate");
  if (!chain) {
    return false;
  }
  X509* const certificate = chain->front().get();
  return (IsIp(name) ? X509_check_ip_asc(certificate, name.c_str(), 0)
                     : X509_check_host(certificate, name.c_str(), name.size(), 0, nullptr)) == 1;
}

Result<KeyPair> SelfSigned(const std::vector<std::string>& names) {
  const base::WallTime now = base::Clock::Real().Wall();
  return SelfSigned(names, {.not_before = now - kBackdated, .not_after = now + kLifetime});
}

Result<KeyPair> SelfSigned(const std::vector<std::string>& names, Validity validity) {
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> plain, PlainNames(names));
  return MakePair(CommonName(plain), validity, [&plain](X509* certificate, EVP_PKEY* key) {
    const Signer self{.certificate = certificate, .key = key};
    return MakeServers(certificate, self, plain) && Sign(certificate, self);
  });
}

Result<KeyPair> NewAuthority(const std::string& name, Validity validity) {
  return MakePair(name, validity, [](X509* certificate, EVP_PKEY* key) {
    return MakeAuthority(certificate) &&
           Sign(certificate, {.certificate = certificate, .key = key});
  });
}

Result<KeyPair> SignedBy(const KeyPair& authority, const std::vector<std::string>& names,
                         Validity validity) {
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> plain, PlainNames(names));
  const auto parsed = internal::ParseKeyPair(authority);
  if (!parsed) {
    return Fail(parsed.error().WithContext("certificate authority"));
  }
  const Signer signer{.certificate = parsed->chain.front().get(), .key = parsed->key.get()};
  return MakePair(CommonName(plain), validity, [&](X509* certificate, EVP_PKEY*) {
    return MakeServers(certificate, signer, plain) && MakeSigned(certificate, signer) &&
           Sign(certificate, signer);
  });
}

}  // namespace kubexx::http
