/// @file
/// The store in an etcd. gRPC and what belongs to it would cost every start of the server time and
/// 5 MB, so it is in a program of its own, kubexx-apiserver-etcd, which takes over when an etcd is
/// asked for.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"

namespace kubexx::cmd {

/// In kubexx-apiserver: becomes kubexx-apiserver-etcd, in the same folder, and returns only when
/// that fails. In that: does nothing. To be called before the process serves or holds anything.
apimachinery::Result<void> BecomeProgramWithEtcd(char* const* argv);

/// In kubexx-apiserver-etcd only.
apimachinery::Result<std::unique_ptr<apiserver::storage::Storage>> NewEtcdStorage(
    const apiserver::storage::etcd3::Etcd3Options& options);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_
