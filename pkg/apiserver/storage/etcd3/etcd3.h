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
  /// The URLs of one cluster's members, "http://host:port" or "https://host:port", all with the
  /// same scheme. A call goes to a member to which a connection is open; when that breaks, the next
  /// call goes to another member.
  std::vector<std::string> endpoints{};
  /// PEM files for https: the authority of etcd's certificate (empty: the system's authorities),
  /// and the certificate and key of this client when etcd asks for one. They are read once, when
  /// the store is made.
  std::string ca_file{};
  std::string certificate_file{};
  std::string key_file{};
  /// Every call but Watch fails with kTimeout after this long, including the wait for a connection.
  base::Duration request_timeout = std::chrono::seconds(10);
  /// How many items of a list one request to etcd asks for.
  std::size_t page_size = 500;
  /// Once per interval, one of all API servers on this etcd compacts it, so that the history of the
  /// last interval stays. kube-apiservers take part (through etcd's key "compact_rev_key"). With
  /// zero this store never compacts.
  base::Duration compact_interval = std::chrono::minutes(5);
};

/// Makes a store in etcd. It uses the keys and values as etcd's keys and values, so that with the
/// registry's prefix "/registry/..." the data is that of a kube-apiserver. The function itself does
/// not connect. All calls of the store wait for a connection; they fail when the etcd is older than
/// 3.4.25 or 3.5.8, because such versions may report more progress of a watch than it has made.
/// Returns kInvalidConfig for endpoints or files that cannot be used. All calls must have returned
/// before the store is destroyed.
apimachinery::Result<std::unique_ptr<Storage>> NewEtcd3Storage(Etcd3Options options);

}  // namespace kubexx::apiserver::storage::etcd3

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_ETCD3_H_
