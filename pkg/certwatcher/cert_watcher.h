/// @file
/// A certificate and its key in files that are replaced while the program runs.
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

/// Reads a pair again when a file in its directories changes (inotify), and every `interval` in any
/// case: mounted Secrets, which are swapped by a symbolic link, work, and so do file systems that
/// report nothing. A pair that cannot be read or does not belong together, such as one that is half
/// replaced, is logged and leaves the last good one in use. Thread-safe. Two threads of its own.
/// Semantics: controller-runtime certwatcher.
class CertWatcher {
 public:
  /// The two files, and how they are watched.
  struct Options {
    std::string certificate_file{};  ///< PEM, with the chain
    std::string key_file{};          ///< PEM, not encrypted
    std::chrono::milliseconds interval = std::chrono::seconds(10);
    base::Clock& clock = base::Clock::Real();
    /// Records certwatcher_read_certificate_total and certwatcher_read_certificate_errors_total
    /// there when set; must outlive the watcher.
    metrics::Registry* registry = nullptr;
  };
  /// Called on the watcher's thread; must not end its own subscription.
  using Callback = std::function<void(const http::KeyPair&)>;

  /// Reads the first pair and starts to watch. kInvalidConfig names the file and what is wrong.
  static apimachinery::Result<std::unique_ptr<CertWatcher>> New(Options options);
  ~CertWatcher();
  CertWatcher(const CertWatcher&) = delete;
  CertWatcher& operator=(const CertWatcher&) = delete;

  /// The last good pair; never null.
  std::shared_ptr<const http::KeyPair> Current() const;

  /// For http::TlsOptions. May be called after the watcher is gone; then nothing changes any more.
  http::CertificateProvider Provider() const;

  /// Calls `callback` with each new pair, not with the one that is there already. The subscription
  /// must end before the watcher.
  base::Subscription OnChange(Callback callback);

 private:
  class Impl;
  explicit CertWatcher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::certwatcher

#endif  // KUBEXX_CERTWATCHER_CERT_WATCHER_H_
