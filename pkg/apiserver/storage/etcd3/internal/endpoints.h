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

/// When gRPC gives up; it knows the time of day only.
using Deadline = std::chrono::system_clock::time_point;

/// One member.
struct Endpoint {
  std::string address{};
  std::shared_ptr<grpc::Channel> channel{};
  std::unique_ptr<etcdserverpb::KV::Stub> kv{};
  std::unique_ptr<etcdserverpb::Watch::Stub> watch{};
  std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance{};
  /// Whether its version has been asked for, and is good.
  std::unique_ptr<std::atomic<bool>> good = std::make_unique<std::atomic<bool>>(false);
};

/// All members. Thread-safe. gRPC connects again by itself, twice a second at most.
class Endpoints {
 public:
  /// kInvalidConfig, see NewEtcd3Storage.
  static apimachinery::Result<std::unique_ptr<Endpoints>> Make(const Etcd3Options& options);

  /// A member to which a connection stands, the one of the last call when it can be. Waits for one
  /// until `deadline` (kUnavailable) or `stop` (kCancelled). One whose version does not say truly
  /// how far its watches are is as good as none (kUnavailable).
  apimachinery::Result<const Endpoint*> Connected(Deadline deadline, const std::stop_token& stop);

  /// Has the next call begin with another member: this one is connected, but cannot do what it is
  /// asked for, as when it is cut off from the others.
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
