#include "kubexx/apiserver/storage/etcd3/internal/translate.h"

#include <grpcpp/support/status_code_enum.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/storage/internal/errors.h"
#include "kubexx/apiserver/storage/internal/value.h"

namespace kubexx::apiserver::storage::etcd3::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

Bytes TakeValue(std::string& bytes) {
  const storage::internal::BlobRef blob = storage::internal::MakeBlob(std::move(bytes));
  return {blob, &blob->bytes};
}

bool Says(const grpc::Status& status, std::string_view words) {
  return status.error_message().find(words) != std::string::npos;
}

struct Meaning {
  Reason reason = Reason::kInternalError;
  int code = 500;
};

Meaning MeaningOf(const grpc::Status& from) {
  switch (from.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    // Not cancelled by the caller, but because the connection was lost.
    case grpc::StatusCode::CANCELLED:
      return {.reason = Reason::kUnavailable, .code = 0};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {.reason = Reason::kTimeout, .code = 504};
    case grpc::StatusCode::UNAUTHENTICATED:
      return {.reason = Reason::kUnauthorized, .code = 401};
    case grpc::StatusCode::PERMISSION_DENIED:
      return {.reason = Reason::kForbidden, .code = 403};
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      if (Says(from, "request is too large") || Says(from, "larger than max")) {
        return {.reason = Reason::kRequestEntityTooLarge, .code = 413};
      }
      if (Says(from, "too many requests")) {
        return {.reason = Reason::kTooManyRequests, .code = 429};
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

etcdserverpb::TxnRequest IfModifiedAt(std::string_view key, Revision expected) {
  etcdserverpb::TxnRequest request;
  etcdserverpb::Compare& compare = *request.add_compare();
  compare.set_result(etcdserverpb::Compare::EQUAL);
  compare.set_target(etcdserverpb::Compare::MOD);
  compare.set_key(std::string(key));
  compare.set_mod_revision(expected);
  return request;
}

void AddRead(google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp>& operations,
             std::string_view key, bool keys_only) {
  etcdserverpb::RangeRequest& read = *operations.Add()->mutable_request_range();
  read.set_key(std::string(key));
  read.set_keys_only(keys_only);
}

KeyValue TakeLastRead(etcdserverpb::TxnResponse& response) {
  KeyValue kv;
  if (response.responses_size() > 0) {
    auto& read = *response.mutable_responses(response.responses_size() - 1);
    if (read.has_response_range() && read.response_range().kvs_size() > 0) {
      kv = TakeKeyValue(*read.mutable_response_range()->mutable_kvs(0));
    }
  }
  return kv;
}

KeyValue TakeKeyValue(etcdserverpb::KeyValue& from) {
  KeyValue kv;
  kv.key = std::move(*from.mutable_key());
  kv.value = TakeValue(*from.mutable_value());
  kv.create_revision = from.create_revision();
  kv.mod_revision = from.mod_revision();
  return kv;
}

std::shared_ptr<const Event> TakeEvent(etcdserverpb::Event& from, bool more) {
  auto event = std::make_shared<Event>();
  event->more = more;
  event->kv = TakeKeyValue(*from.mutable_kv());
  if (from.type() == etcdserverpb::Event::DELETE) {
    event->type = Event::Type::kDelete;
    event->kv.value = nullptr;
  }
  if (from.has_prev_kv()) {
    event->prev = TakeKeyValue(*from.mutable_prev_kv());
  }
  return event;
}

std::string EndOf(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') {
    end.pop_back();
  }
  if (end.empty()) {
    return std::string(1, '\0');  // the range goes to the last key
  }
  end.back() = static_cast<char>(end.back() + 1);
  return end;
}

Status Translate(const grpc::Status& from, std::string_view what, const std::stop_token& stop) {
  if (stop.stop_requested()) {
    return storage::internal::Cancelled(what).error();
  }
  if (from.error_code() == grpc::StatusCode::OUT_OF_RANGE && Says(from, "compacted")) {
    return storage::internal::Expired(what, 0).error();
  }
  const Meaning meaning = MeaningOf(from);
  return {meaning.reason, std::string(what) + " in etcd: " + from.error_message(), meaning.code};
}

bool IsFutureRevision(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::OUT_OF_RANGE && Says(status, "future revision");
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
