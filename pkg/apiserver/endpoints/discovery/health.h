/// @file
/// The health pages of the server: /healthz, /livez and /readyz.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_HEALTH_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_HEALTH_H_

#include <chrono>
#include <optional>
#include <stop_token>
#include <string_view>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers three paths with named checks, as kube-apiserver does: `ping`, which always succeeds;
/// `etcd`, which is about the store, whatever it is; and `etcd-readiness`, for /readyz only. For
/// /livez the store must answer reads; for the others it must also accept writes, because a restart
/// would not make room on a full disk. A separate thread calls Look, which may wait; the pages use
/// its last result and never wait. Thread-safe.
class HealthPages {
 public:
  /// How often Look has to be called, and how long it takes at most.
  static constexpr base::Duration kInterval = std::chrono::seconds(2);

  /// `storage` must outlive it. Until the first Look the store counts as healthy.
  explicit HealthPages(storage::Storage& storage) : storage_(storage) {}

  /// Checks the store. Blocks for kInterval at most.
  void Look(const std::stop_token& stop) KX_EXCLUDES(mu_);

  /// Whether the path is one of the three pages, which everybody may read.
  static bool IsPage(std::string_view path);

  /// Answers a page with 200 and "ok", or with a line for each check if the query has `verbose`.
  /// When a check fails that no parameter `exclude` names, it answers with 500 and these lines. The
  /// page does not say why a check fails. A query of more than a kilobyte is ignored. Does not
  /// block.
  http::Response Page(const http::Request& request) const KX_EXCLUDES(mu_);

  /// Answers the path of a single check, such as /readyz/etcd. The answer has the reason when the
  /// check fails, so callers must authorize the request first. Returns std::nullopt for other
  /// paths. Does not block.
  std::optional<http::Response> Check(std::string_view path) const KX_EXCLUDES(mu_);

 private:
  storage::Storage& storage_;
  mutable base::Mutex mu_;
  storage::StorageHealth store_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_HEALTH_H_
