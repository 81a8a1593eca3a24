/// @file
/// Between etcd's messages and the store's.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_

#include <grpcpp/support/status.h>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "etcd.pb.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::etcd3::internal {

/// Takes the value's bytes.
KeyValue TakeKeyValue(etcdserverpb::KeyValue& from);
/// Takes the values' bytes.
std::shared_ptr<const Event> TakeEvent(etcdserverpb::Event& from);

/// The end of the keys that start with `prefix`, as etcd's range_end.
std::string EndOf(std::string_view prefix);

/// What went wrong with `what`. kCancelled only when it was by `stop`.
apimachinery::Status Translate(const grpc::Status& from, std::string_view what,
                               const std::stop_token& stop);

/// For a read at a revision: etcd has not reached it yet.
bool IsFutureRevision(const grpc::Status& status);

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_
