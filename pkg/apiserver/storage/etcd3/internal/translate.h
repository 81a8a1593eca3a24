/// @file
/// Between etcd's messages and the store's.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_

#include <google/protobuf/repeated_field.h>
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
/// Takes the values' bytes. `more`: see Event.
std::shared_ptr<const Event> TakeEvent(etcdserverpb::Event& from, bool more);

/// A transaction whose `success` runs when the key's mod_revision is `expected`; 0: it does not
/// exist.
etcdserverpb::TxnRequest IfModifiedAt(std::string_view key, Revision expected);

/// Adds the read of a key to one branch of a transaction, for TakeLastRead.
void AddRead(google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp>& operations,
             std::string_view key, bool keys_only);

/// The key that the last operation of a transaction read; mod_revision 0 when there is none.
KeyValue TakeLastRead(etcdserverpb::TxnResponse& response);

/// The end of the keys that start with `prefix`, as etcd's range_end.
std::string EndOf(std::string_view prefix);

/// What went wrong with `what`. kCancelled only when it was by `stop`.
apimachinery::Status Translate(const grpc::Status& from, std::string_view what,
                               const std::stop_token& stop);

/// For a read at a revision: etcd has not reached it yet.
bool IsFutureRevision(const grpc::Status& status);

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_
