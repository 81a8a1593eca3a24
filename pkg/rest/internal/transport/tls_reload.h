/// @file
/// TlsReload: uses new certificates without a restart.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_TLS_RELOAD_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_TLS_RELOAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/report/rest_metrics.h"
#include "kubexx/rest/internal/transport/transport.h"

namespace kubexx::rest::internal {

/// Checks the files of the CA and of the client certificate when requests are made, at most once a
/// minute, and gives changed ones to a Transport. Thread-safe. Semantics: client-go transport
/// ca_rotation and cert_rotation, which check every 5 minutes.
class TlsReload {
 public:
  /// Reads the files once, so that it notices later changes. It has to be made before the
  /// transport. `clock` and `metrics` must outlive it.
  TlsReload(TlsConfig tls, base::Clock& clock, const RestMetrics& metrics);

  /// Sets the transport that was made with `tls`. Must be called once, before the methods below.
  void Attach(Transport& transport) { transport_ = &transport; }

  /// Checks the files if the interval has passed. When a file cannot be used, logs and counts that,
  /// and changes nothing.
  void Check();

  /// Call this when the server has refused the client certificate of the transport's `generation`.
  /// It checks the files at once, but at most every 5 s, and waits if another thread is checking
  /// them. Returns whether there is a new certificate.
  bool CheckAfterRefusal(std::uint64_t generation);

  /// Whether there are files to check.
  bool watches_files() const { return watches_files_; }

  /// Uses this client certificate and key (PEM) for new connections, unless they are in use
  /// already. If both are empty there is no client certificate. Returns kUnauthorized when they
  /// cannot be used.
  apimachinery::Result<void> UseClientCertificate(const std::string& certificate,
                                                  const std::string& key);

 private:
  // The digests of the bytes of the three files. A digest is "" when its file is not used.
  struct Digests {
    std::string ca{};
    std::string certificate{};
    std::string key{};
    bool operator==(const Digests&) const = default;
  };

  /// The current settings, and the number of times that settings were given to the transport.
  std::pair<TlsConfig, std::uint64_t> Now() const;
  /// Increments the count of uses, unless another thread has given the transport other settings
  /// since `version`. Returns whether it did.
  bool IsLastLocked(std::uint64_t version) KX_REQUIRES(mu_) {
    const bool last = uses_ == version;
    uses_ += last ? 1 : 0;
    return last;
  }
  void CheckEvery(base::Duration interval);
  void Reload();
  apimachinery::Result<Digests> Read() const;

  Transport* transport_ = nullptr;
  base::Clock& clock_;
  const RestMetrics& metrics_;
  const bool watches_files_;
  mutable base::Mutex mu_;
  base::CondVar checked_anew_;
  bool checking_ KX_GUARDED_BY(mu_) = false;
  base::TimePoint checked_ KX_GUARDED_BY(mu_);
  TlsConfig tls_ KX_GUARDED_BY(mu_);
  std::uint64_t uses_ KX_GUARDED_BY(mu_) = 0;
  Digests digests_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_TLS_RELOAD_H_
