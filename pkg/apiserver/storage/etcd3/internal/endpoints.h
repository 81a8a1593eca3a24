/// @file
/// The connections to the members of an etcd cluster.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ENDPOINTS_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ENDPOINTS_H_

#include <grpcpp/channel.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "etcd.grpc.pb.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"

namespace kubexx::apiserver::storage::etcd3::internal {

/// The time at which gRPC gives up. gRPC supports only the wall clock.
using Deadline = std::chrono::system_clock::time_point;

/// One member of the cluster.
struct Endpoint {
  std::string address{};
  std::shared_ptr<grpc::Channel> channel{};
  std::unique_ptr<etcdserverpb::KV::Stub> kv{};
  std::unique_ptr<etcdserverpb::Watch::Stub> watch{};
  std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance{};
  /// Whether the member's version was checked and is supported.
  std::unique_ptr<std::atomic<bool>> good = std::make_unique<std::atomic<bool>>(false);
};

/// All members of the cluster. gRPC reconnects by itself, at most twice a second. Thread-safe.
class Endpoints {
 public:
  /// Returns kInvalidConfig as NewEtcd3Storage.
  static apimachinery::Result<std::unique_ptr<Endpoints>> Make(const Etcd3Options& options);

  /// Returns a member to which a connection is open, if possible the one of the last call. Waits
  /// for one until `deadline` (then kUnavailable) or `stop` (then kCancelled). Also returns
  /// kUnavailable for a member whose version reports the progress of watches wrongly.
  apimachinery::Result<const Endpoint*> Connected(Deadline deadline, const std::stop_token& stop);

  /// Makes the next call begin with another member, because this one is connected but cannot serve
  /// requests, for example when it is cut off from the other members.
  void Leave(const Endpoint* member);

 private:
  Endpoints() = default;

  const Endpoint* FindReady();
  static apimachinery::Result<void> CheckVersion(const Endpoint& member, Deadline deadline,
                                                 const std::stop_token& stop);

  std::vector<Endpoint> members_;
  std::atomic<std::size_t> last_ = 0;
};

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ENDPOINTS_H_
