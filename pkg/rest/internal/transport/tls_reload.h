/// @file
/// New certificates without a restart.
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

/// Looks at the files of the CA and of the client certificate when requests are made, at most once
/// a minute, and gives a Transport what has changed. Thread-safe. Semantics: client-go transport
/// ca_rotation and cert_rotation, which look every 5 minutes.
class TlsReload {
 public:
  /// Reads the files once, so that a change after that is seen: made before the transport is.
  /// `clock` and `metrics` must outlive this.
  TlsReload(TlsConfig tls, base::Clock& clock, const RestMetrics& metrics);

  /// The transport that `tls` was given to. To be called once, before all that follow.
  void Attach(Transport& transport) { transport_ = &transport; }

  /// Looks if it is time to. What cannot be used is logged and counted, and changes nothing.
  void Check();

  /// After the server has refused the client certificate of the transport's `generation`: looks at
  /// once, but not more often than every 5 s, and waits for somebody else who looks. True when
  /// there is a new one.
  bool CheckAfterRefusal(std::uint64_t generation);

  /// Whether there are files to look at.
  bool watches_files() const { return watches_files_; }

  /// Makes this client certificate and key (PEM) the ones of new connections, if they are not yet.
  /// Both empty means none. kUnauthorized when they cannot be used.
  apimachinery::Result<void> UseClientCertificate(const std::string& certificate,
                                                  const std::string& key);

 private:
  // Digests of the three files' bytes; "" when one is not used.
  struct Digests {
    std::string ca{};
    std::string certificate{};
    std::string key{};
    bool operator==(const Digests&) const = default;
  };

  /// The settings, and how often they were given to the transport.
  std::pair<TlsConfig, std::uint64_t> Now() const;
  /// Counts one more time, unless somebody else has given the transport others since `version`.
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
