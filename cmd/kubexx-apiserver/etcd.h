/// @file
/// The store in an etcd. gRPC would make every start of the server slower and cost 5 MB of memory.
/// Therefore it is linked only into a separate program, kubexx-apiserver-etcd, which replaces
/// kubexx-apiserver when the command line names an etcd.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"

namespace kubexx::cmd {

/// In kubexx-apiserver, this executes kubexx-apiserver-etcd from the same folder in the place of
/// the process, and returns only when that fails. In kubexx-apiserver-etcd it does nothing. Must be
/// called before the process serves anything or holds resources.
apimachinery::Result<void> BecomeProgramWithEtcd(char* const* argv);

/// Makes a store in an etcd. Works in kubexx-apiserver-etcd only.
apimachinery::Result<std::unique_ptr<apiserver::storage::Storage>> NewEtcdStorage(
    const apiserver::storage::etcd3::Etcd3Options& options);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_ETCD_H_
