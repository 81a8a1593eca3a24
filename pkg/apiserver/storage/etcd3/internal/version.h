/// @file
/// Bugs of etcd versions that the store has to know.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_

#include <string_view>

namespace kubexx::apiserver::storage::etcd3::internal {

/// Whether an etcd of this version, such as "3.5.8", reports the progress of a watch only after it
/// has sent all earlier events. Versions before 3.4.25 and 3.5.8 may report it before (etcd issue
/// 15220), so that a client which relies on it misses events. True for a text that is not a
/// version.
bool TellsProgressTruly(std::string_view version);

/// Whether an etcd of this version reports the progress of a watch whenever it is asked. Versions
/// before 3.4.31 and 3.5.13 may never do so for a watch that had not caught up at the first request
/// and has had no event since (etcd issue 17507). A client then waits in vain, and has to read the
/// state itself. From these versions on kube-apiserver answers consistent lists from its cache.
bool TellsProgressAlways(std::string_view version);

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_
