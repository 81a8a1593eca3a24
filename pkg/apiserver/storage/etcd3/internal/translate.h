/// @file
/// Translates between the messages of etcd and the types of the store.
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

/// Makes a KeyValue and takes over the bytes of the value.
KeyValue TakeKeyValue(etcdserverpb::KeyValue& from);
/// Makes an Event and takes over the bytes of the values. For `more` see Event.
std::shared_ptr<const Event> TakeEvent(etcdserverpb::Event& from, bool more);

/// A transaction whose `success` branch runs if the key's mod_revision is `expected`, where 0 means
/// that the key does not exist.
etcdserverpb::TxnRequest IfModifiedAt(std::string_view key, Revision expected);

/// Adds the read of a key to one branch of a transaction, for TakeLastRead.
void AddRead(google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp>& operations,
             std::string_view key, bool keys_only);

/// The key that the last operation of a transaction read; mod_revision 0 when there is none.
KeyValue TakeLastRead(etcdserverpb::TxnResponse& response);

/// The range_end in etcd of the keys that start with `prefix`.
std::string EndOf(std::string_view prefix);

/// Translates an error of etcd; `what` names the failed call. Returns kCancelled only when `stop`
/// was requested.
apimachinery::Status Translate(const grpc::Status& from, std::string_view what,
                               const std::stop_token& stop);

/// For a read at a revision: whether etcd has not reached the revision yet.
bool IsFutureRevision(const grpc::Status& status);

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_TRANSLATE_H_
