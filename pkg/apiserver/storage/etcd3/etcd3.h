/// @file
/// A Storage in an etcd cluster, over its v3 gRPC interface.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_ETCD3_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_ETCD3_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver::storage::etcd3 {

/// How to reach etcd.
struct Etcd3Options {
  /// "http://host:port" or "https://host:port", all of one cluster and of one scheme. A call goes
  /// to one that a connection stands to; when it breaks, the next call goes to another.
  std::vector<std::string> endpoints{};
  /// PEM files for https: who signed etcd's certificate (empty: the system's), and this client's
  /// certificate and key where etcd asks for one.
  std::string ca_file{};
  std::string certificate_file{};
  std::string key_file{};
  /// Of every call but Watch, the wait for a connection included; then kTimeout.
  base::Duration request_timeout = std::chrono::seconds(10);
  /// Items that one request of a list asks for.
  std::size_t page_size = 500;
  /// What is older than this, and younger than twice this, is compacted, by one of all API servers
  /// on this etcd: kube-apiservers take part (etcd key "compact_rev_key"). Zero: never.
  base::Duration compact_interval = std::chrono::minutes(5);
};

/// A store in etcd. Keys are etcd's keys as they are and values its values, so with the registry's
/// "/registry/..." it is the data that a kube-apiserver has. Does not connect yet; all calls wait
/// for a connection, and fail where it leads to an etcd before 3.4.25 or 3.5.8, whose watches may
/// be said to be further than they are. kInvalidConfig for endpoints or files that cannot be used.
/// All calls must have returned before it is destroyed.
apimachinery::Result<std::unique_ptr<Storage>> NewEtcd3Storage(Etcd3Options options);

}  // namespace kubexx::apiserver::storage::etcd3

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_ETCD3_H_
