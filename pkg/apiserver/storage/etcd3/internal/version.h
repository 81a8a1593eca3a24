/// @file
/// What is known of the versions of etcd.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_

#include <string_view>

namespace kubexx::apiserver::storage::etcd3::internal {

/// Whether an etcd of this version, "3.5.8", says how far a watch is only after it has sent what
/// came before. Before 3.4.25 and 3.5.8 it may be ahead of its events (etcd issue 15220), and who
/// believes it misses them. True for what is no version.
bool TellsProgressTruly(std::string_view version);

/// Whether it says so whenever it is asked. Before 3.4.31 and 3.5.13 it may never do so for a watch
/// that had not caught up when it was first asked and has had no event since (etcd issue 17507):
/// whoever waits for it waits in vain, and then asks for the state itself. From these versions on
/// kube-apiserver answers consistent lists from its cache.
bool TellsProgressAlways(std::string_view version);

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_VERSION_H_
