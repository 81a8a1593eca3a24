/// @file
/// CertWatcher: watches the files of a certificate and its key, which may be replaced while the
/// program runs.
#ifndef KUBEXX_CERTWATCHER_CERT_WATCHER_H_
#define KUBEXX_CERTWATCHER_CERT_WATCHER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/http/certificate.h"

namespace kubexx::metrics {
class Registry;
}

namespace kubexx::certwatcher {

/// Reads the certificate and key again when a file in their directories changes (inotify), and also
/// every `interval`. This works with mounted Secrets, which are replaced through a symbolic link,
/// and with file systems that report no changes. When the files cannot be read or do not belong
/// together, for example because only one has been replaced yet, the watcher logs that and keeps
/// the last good pair. Thread-safe. Has two threads of its own. Semantics: controller-runtime
/// certwatcher.
class CertWatcher {
 public:
  /// The two files, and how to watch them.
  struct Options {
    std::string certificate_file{};  ///< PEM, with the chain
    std::string key_file{};          ///< PEM, not encrypted
    std::chrono::milliseconds interval = std::chrono::seconds(10);
    base::Clock& clock = base::Clock::Real();
    /// When set, the watcher records certwatcher_read_certificate_total and
    /// certwatcher_read_certificate_errors_total here; must outlive the watcher.
    metrics::Registry* registry = nullptr;
  };
  /// Called on the watcher's thread. Must not end its own subscription.
  using Callback = std::function<void(const http::KeyPair&)>;

  /// Reads the first pair and starts to watch. kInvalidConfig names the file and the problem.
  static apimachinery::Result<std::unique_ptr<CertWatcher>> New(Options options);
  ~CertWatcher();
  CertWatcher(const CertWatcher&) = delete;
  CertWatcher& operator=(const CertWatcher&) = delete;

  /// The last good pair; never null.
  std::shared_ptr<const http::KeyPair> Current() const;

  /// A provider for http::TlsOptions. It may be called after the watcher is destroyed, and then
  /// always returns the last pair.
  http::CertificateProvider Provider() const;

  /// Calls `callback` with each new pair, but not with the present one. The subscription must end
  /// before the watcher.
  base::Subscription OnChange(Callback callback);

 private:
  class Impl;
  explicit CertWatcher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::certwatcher

#endif  // KUBEXX_CERTWATCHER_CERT_WATCHER_H_
