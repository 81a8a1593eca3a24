/// @file
/// The pages that tell whether the server is well: /healthz, /livez and /readyz.
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

/// Named checks behind three paths, as kube-apiserver has them: `ping`, which always holds; `etcd`,
/// the store, wherever it is; and `etcd-readiness`, for /readyz only. /livez asks whether the store
/// can be read, the others whether it takes writes, too: a restart makes no room on a disk. What
/// the store can do is looked at by a thread that may wait, and remembered for those who ask, who
/// may not. Thread-safe.
class HealthPages {
 public:
  /// So often the store is to be looked at, and so long that takes at most.
  static constexpr base::Duration kInterval = std::chrono::seconds(2);

  /// `storage` must outlive it. Until the first Look it counts as well.
  explicit HealthPages(storage::Storage& storage) : storage_(storage) {}

  /// Asks the store. Blocks, up to kInterval.
  void Look(const std::stop_token& stop) KX_EXCLUDES(mu_);

  /// Whether the path is one of the three, which everybody may read.
  static bool IsPage(std::string_view path);

  /// A page: 200 with "ok", or a line for each check with the parameter `verbose`; 500 with these
  /// lines when one of them fails that no parameter `exclude` names. The reasons are not in it. Of
  /// a query of more than a kilobyte nothing is read. Does not block.
  http::Response Page(const http::Request& request) const KX_EXCLUDES(mu_);

  /// What is below a page, as in /readyz/etcd: one check, with its reason when it fails, for those
  /// who may know. Nothing when the path is not one of a check. Does not block.
  std::optional<http::Response> Check(std::string_view path) const KX_EXCLUDES(mu_);

 private:
  storage::Storage& storage_;
  mutable base::Mutex mu_;
  storage::StorageHealth store_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_HEALTH_H_
