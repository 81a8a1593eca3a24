/// @file
/// BackoffManager: delays before requests to an overloaded server.
#ifndef KUBEXX_REST_BACKOFF_H_
#define KUBEXX_REST_BACKOFF_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::rest {

/// Decides how long a client waits before a request to a host, from the outcomes of earlier ones.
/// Implementations are thread-safe and never block. The client waits for the longer of this delay
/// and a response's Retry-After.
class BackoffManager {
 public:
  virtual ~BackoffManager() = default;
  virtual base::Duration Delay(const std::string& host) = 0;
  /// Called after each attempt; `code` is 0 when there was no response.
  virtual void Update(const std::string& host, int code) = 0;
};

/// A delay that starts at `initial` and doubles up to `maximum` with each 429 or 5xx of a host; any
/// other outcome ends it. Remembers 1,000 hosts. Semantics: client-go rest.URLBackoff.
class ExponentialBackoff final : public BackoffManager {
 public:
  ExponentialBackoff(base::Duration initial, base::Duration maximum)
      : initial_(initial), maximum_(maximum) {}
  base::Duration Delay(const std::string& host) override;
  void Update(const std::string& host, int code) override;

 private:
  static constexpr std::size_t kMaxHosts = 1000;

  const base::Duration initial_;
  const base::Duration maximum_;
  base::Mutex mu_;
  std::map<std::string, base::Duration> delays_ KX_GUARDED_BY(mu_);
};

/// Makes an ExponentialBackoff from KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION, both
/// whole seconds; returns null when one of them is unset or not a number.
std::shared_ptr<BackoffManager> BackoffFromEnvironment();

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_BACKOFF_H_
