/// @file
/// How many watches each user has open.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_OPEN_WATCHES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_OPEN_WATCHES_H_

#include <cstddef>
#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/rbac/user.h"

namespace kubexx::apiserver {

/// Counts the open watches of each user, and lets nobody have so many that there is no connection
/// left for others. Administrators (system:masters) have no limit, so that they can always look
/// what is wrong. kube-apiserver has no such limit. Thread-safe.
class OpenWatches {
 public:
  /// A user may have `most` watches; at least one.
  explicit OpenWatches(std::size_t most);

  /// Counts one more watch of the user until the result is destroyed, which may outlive this
  /// object. Returns kTooManyRequests when the user has as many as a user may have.
  apimachinery::Result<std::shared_ptr<const void>> Begin(const User& user);

 private:
  struct Counts;
  class One;

  const std::size_t most_;
  const std::shared_ptr<Counts> counts_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_OPEN_WATCHES_H_
