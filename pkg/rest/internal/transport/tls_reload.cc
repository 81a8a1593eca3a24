#include "kubexx/rest/internal/transport/tls_reload.h"

#include <openssl/crypto.h>

#include <chrono>

#include "kubexx/crypto/sha.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/internal/config/file.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kInterval(60);
constexpr std::chrono::seconds kIntervalAfterRefusal(5);

// This is only a guard, because reading three files takes milliseconds.
constexpr std::chrono::seconds kLongestCheck(10);

// Returns a digest that identifies the bytes of a file. The bytes are not kept, because they may be
// a private key.
Result<std::string> DigestOf(const std::string& path, const char* what) {
  if (path.empty()) {
    return std::string();
  }
  KX_ASSIGN_OR_RETURN(std::string bytes, ReadConfigFile(path, what));
  const crypto::Sha256Sum digest = crypto::Sha256(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return std::string(digest.begin(), digest.end());
}

}  // namespace

TlsReload::TlsReload(TlsConfig tls, base::Clock& clock, const RestMetrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      watches_files_((tls.ca_data.empty() && !tls.ca_file.empty()) ||
                     (tls.cert_data.empty() && !tls.cert_file.empty()) ||
                     (tls.key_data.empty() && !tls.key_file.empty())),
      checked_(clock.Now()),
      tls_(std::move(tls)) {
  if (auto digests = Read()) {
    digests_ = std::move(*digests);
  }
}

Result<TlsReload::Digests> TlsReload::Read() const {
  TlsConfig tls;
  {
    base::MutexLock lock(mu_);
    tls = tls_;
  }
  Digests out;
  if (tls.ca_data.empty()) {
    auto ca = DigestOf(tls.ca_file, "certificate-authority");
    if (!ca) {
      metrics_.CountReload(true, "failure", "read_error");
      return Fail(std::move(ca).error());
    }
    out.ca = std::move(*ca);
  }
  // Inline data cannot change, so only files are checked.
  auto certificate =
      DigestOf(tls.cert_data.empty() ? tls.cert_file : std::string(), "client-certificate");
  auto key = DigestOf(tls.key_data.empty() ? tls.key_file : std::string(), "client-key");
  if (!certificate || !key) {
    metrics_.CountReload(false, "failure", "read_error");
    return Fail(certificate ? std::move(key).error() : std::move(certificate).error());
  }
  out.certificate = std::move(*certificate);
  out.key = std::move(*key);
  return out;
}

void TlsReload::CheckEvery(base::Duration interval) {
  if (!watches_files_) {
    return;
  }
  const base::TimePoint now = clock_.Now();
  {
    base::MutexLock lock(mu_);
    if (checking_ || now - checked_ < interval) {
      return;
    }
    checking_ = true;
    checked_ = now;
  }
  const auto end = [this] {
    const base::MutexLock lock(mu_);
    checking_ = false;
    checked_anew_.notify_all();
  };
  try {
    Reload();
  } catch (...) {  // out of memory: without this, no thread would check again
    end();
    throw;
  }
  end();
}

void TlsReload::Check() { CheckEvery(kInterval); }

bool TlsReload::CheckAfterRefusal(std::uint64_t generation) {
  if (transport_->certificate_generation() == generation) {
    CheckEvery(kIntervalAfterRefusal);
    base::Clock& real = base::Clock::Real();
    const base::TimePoint until = real.Now() + kLongestCheck;
    base::MutexLock lock(mu_);
    while (checking_ &&  // another caller that was refused is checking
           real.WaitUntil(mu_, checked_anew_, {}, until) != base::Wake::kTimeout) {
    }
  }
  return transport_->certificate_generation() != generation;
}

std::pair<TlsConfig, std::uint64_t> TlsReload::Now() const {
  base::MutexLock lock(mu_);
  return {tls_, uses_};
}

// The transport reads files when it gets settings, and no lock is held meanwhile. Therefore a
// thread that finds that another one has given settings to the transport meanwhile does it once
// more, so that the last settings contain all changes.
void TlsReload::Reload() {
  Digests old;
  {
    base::MutexLock lock(mu_);
    old = digests_;
  }
  auto read = Read();
  if (!read) {
    logging::Warning("Cannot read the TLS files again; the last ones stay in use",
                     {{"error", read.error()}});
    return;
  }
  const bool ca = read->ca != old.ca;
  const bool certificate = read->certificate != old.certificate || read->key != old.key;
  if (!ca && !certificate) {
    return;
  }
  Result<void> used;
  for (bool last = false; used && !last;) {
    const auto [tls, version] = Now();
    used = transport_->Use(tls, certificate);
    base::MutexLock lock(mu_);
    last = used && IsLastLocked(version);
  }
  for (const bool of_ca : {true, false}) {
    if (of_ca ? ca : certificate) {
      metrics_.CountReload(of_ca, used ? "success" : "failure", used ? "updated" : "parse_error");
    }
  }
  if (!used) {
    logging::Warning("Cannot use the changed TLS files; the last ones stay in use",
                     {{"error", used.error()}});
    return;
  }
  base::MutexLock lock(mu_);
  digests_ = std::move(*read);
}

Result<void> TlsReload::UseClientCertificate(const std::string& certificate,
                                             const std::string& key) {
  for (;;) {
    if (base::MutexLock lock(mu_); tls_.cert_data == certificate) {
      return {};
    }
    auto [tls, version] = Now();
    tls.cert_data = certificate;
    tls.key_data = key;
    if (auto used = transport_->Use(tls, true); !used) {
      return Fail(Reason::kUnauthorized,
                  "the credential plugin's client certificate: " + used.error().message);
    }
    base::MutexLock lock(mu_);
    if (IsLastLocked(version)) {
      OPENSSL_cleanse(tls_.key_data.data(), tls_.key_data.size());
      tls_ = std::move(tls);
      return {};
    }
  }
}

}  // namespace kubexx::rest::internal
