#include "kubexx/apiserver/storage/etcd3/internal/etcd_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kubexx/apiserver/storage/etcd3/internal/translate.h"
#include "kubexx/apiserver/storage/internal/errors.h"
#include "kubexx/apiserver/storage/internal/value.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::etcd3::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using storage::internal::AlreadyExists;
using storage::internal::CannotCompact;
using storage::internal::Conflict;
using storage::internal::NotFound;
using storage::internal::TooLarge;

constexpr std::string_view kHealthKey = "/registry/health";

constexpr base::Duration kPauseBeforeAgain = std::chrono::milliseconds(50);

Bytes Share(std::string value) {
  const storage::internal::BlobRef blob = storage::internal::MakeBlob(std::move(value));
  return {blob, &blob->bytes};
}

}  // namespace

EtcdStore::EtcdStore(Etcd3Options options, std::unique_ptr<Endpoints> endpoints)
    : options_(std::move(options)), endpoints_(std::move(endpoints)) {
  if (options_.compact_interval.count() > 0) {
    compactor_ = std::jthread([this](const std::stop_token& stop) { CompactLoop(stop); });
  }
}

EtcdStore::~EtcdStore() = default;

Deadline EtcdStore::DeadlineFromNow() const {
  return std::chrono::system_clock::now() + options_.request_timeout;
}

template <class Request, class Response>
grpc::Status EtcdStore::Call(
    grpc::Status (etcdserverpb::KV::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
    const Request& request, Response& response, Deadline deadline, const std::stop_token& stop) {
  constexpr bool kIsRead = std::is_same_v<Request, etcdserverpb::RangeRequest>;
  for (;;) {
    const Result<const Endpoint*> endpoint = endpoints_->Connected(deadline, stop);
    if (!endpoint) {
      return {grpc::StatusCode::UNAVAILABLE, endpoint.error().message};
    }
    grpc::ClientContext context;
    context.set_deadline(deadline);
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    grpc::Status status = ((*endpoint)->kv.get()->*method)(&context, request, &response);
    const bool cannot =
        status.error_code() == grpc::StatusCode::UNAVAILABLE ||
        (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && !stop.stop_requested());
    if (cannot) {
      endpoints_->Leave(*endpoint);
    }
    const bool again = kIsRead && status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                       std::chrono::system_clock::now() < deadline && !stop.stop_requested();
    if (!again) {
      return status;
    }
    response.Clear();
    // If the error comes at once, as from a member that only learns, it may come many times.
    (void)base::Clock::Real().SleepFor(kPauseBeforeAgain, stop);
  }
}

Result<etcdserverpb::RangeResponse> EtcdStore::Range(const etcdserverpb::RangeRequest& request,
                                                     std::string_view what,
                                                     const std::stop_token& stop) {
  etcdserverpb::RangeResponse response;
  const grpc::Status status =
      Call(&etcdserverpb::KV::Stub::Range, request, response, DeadlineFromNow(), stop);
  if (!stop.stop_requested() && IsFutureRevision(status)) {
    return TooLarge(request.revision(), 0);
  }
  if (!status.ok()) {
    return Fail(Translate(status, what, stop));
  }
  return response;
}

Result<etcdserverpb::TxnResponse> EtcdStore::Transact(const etcdserverpb::TxnRequest& request,
                                                      std::string_view what,
                                                      const std::stop_token& stop) {
  etcdserverpb::TxnResponse response;
  const grpc::Status status =
      Call(&etcdserverpb::KV::Stub::Txn, request, response, DeadlineFromNow(), stop);
  if (!status.ok()) {
    return Fail(Translate(status, what, stop));
  }
  return response;
}

StorageHealth EtcdStore::CheckHealth(base::Duration timeout, std::stop_token stop) {
  // Reads the key with a quorum that kube-apiserver reads for this purpose.
  etcdserverpb::RangeRequest request;
  request.set_key(std::string(kHealthKey));
  request.set_keys_only(true);
  etcdserverpb::RangeResponse response;
  const Deadline deadline = std::chrono::system_clock::now() + timeout;
  const grpc::Status status =
      Call(&etcdserverpb::KV::Stub::Range, request, response, deadline, stop);
  const Result<void> answered =
      status.ok() ? Result<void>() : Fail(Translate(status, "check of health", stop));
  bool news = false;
  if (!stop.stop_requested()) {
    base::MutexLock lock(mu_);
    news = lost_ == status.ok();
    lost_ = !status.ok();
  }
  if (news && status.ok()) {
    logging::Info("The server can reach etcd again");
  } else if (news) {
    logging::Error("Cannot reach etcd; requests fail until it answers",
                   {{"error", answered.error()}});
  }
  return {.reads = answered, .writes = answered};
}

Result<KeyValue> EtcdStore::Get(std::string_view key, Revision revision, std::stop_token stop) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::string(key));
  request.set_revision(revision);
  KX_ASSIGN_OR_RETURN(etcdserverpb::RangeResponse response,
                      Range(request, "read of " + std::string(key), stop));
  if (response.kvs_size() == 0) {
    return NotFound(key);
  }
  return TakeKeyValue(*response.mutable_kvs(0));
}

Result<KeyValue> EtcdStore::Create(std::string_view key, std::string value, std::stop_token stop) {
  etcdserverpb::TxnRequest request = IfModifiedAt(key, 0);
  etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(std::string(key));
  put.set_value(value);
  KX_ASSIGN_OR_RETURN(const etcdserverpb::TxnResponse response,
                      Transact(request, "creation of " + std::string(key), stop));
  if (!response.succeeded()) {
    return AlreadyExists(key);
  }
  KeyValue kv;
  kv.key = std::string(key);
  kv.value = Share(std::move(value));
  kv.create_revision = kv.mod_revision = response.header().revision();
  return kv;
}

Result<Swap> EtcdStore::CompareAndSwap(std::string_view key, Revision expected, std::string value,
                                       std::stop_token stop) {
  // 0 would equal a key that does not exist.
  etcdserverpb::TxnRequest request = IfModifiedAt(key, expected > 0 ? expected : -1);
  etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(std::string(key));
  put.set_value(value);
  AddRead(*request.mutable_success(), key, true);  // for the revision at which it was created
  AddRead(*request.mutable_failure(), key, false);
  KX_ASSIGN_OR_RETURN(etcdserverpb::TxnResponse response,
                      Transact(request, "update of " + std::string(key), stop));
  Swap swap;
  swap.done = response.succeeded();
  swap.current = TakeLastRead(response);
  swap.current.key = std::string(key);
  if (swap.done) {
    swap.current.value = Share(std::move(value));
  }
  return swap;
}

Result<Deleted> EtcdStore::Delete(std::string_view key, Revision expected, std::stop_token stop) {
  etcdserverpb::TxnRequest request =
      expected != 0 ? IfModifiedAt(key, expected) : etcdserverpb::TxnRequest();
  etcdserverpb::DeleteRangeRequest& remove = *request.add_success()->mutable_request_delete_range();
  remove.set_key(std::string(key));
  remove.set_prev_kv(true);
  AddRead(*request.mutable_failure(), key, true);
  KX_ASSIGN_OR_RETURN(etcdserverpb::TxnResponse response,
                      Transact(request, "deletion of " + std::string(key), stop));
  if (!response.succeeded()) {
    const KeyValue now = TakeLastRead(response);
    if (now.mod_revision == 0) {
      return NotFound(key);
    }
    return Conflict(key, now.mod_revision, expected);
  }
  if (response.responses_size() == 0 ||
      response.responses(0).response_delete_range().prev_kvs_size() == 0) {
    return NotFound(key);
  }
  Deleted deleted;
  deleted.revision = response.header().revision();
  deleted.last = TakeKeyValue(
      *response.mutable_responses(0)->mutable_response_delete_range()->mutable_prev_kvs(0));
  return deleted;
}

Result<ListResult> EtcdStore::GetList(std::string_view prefix, const ListOptions& options,
                                      ItemSink sink, std::stop_token stop) {
  const std::string what = "list of " + std::string(prefix);
  ListResult result;
  result.revision = options.revision;
  etcdserverpb::RangeRequest request;
  request.set_key(options.continue_after > prefix ? options.continue_after + '\0'
                                                  : std::string(prefix));
  request.set_range_end(EndOf(prefix));
  request.set_keys_only(options.keys_only);
  const std::size_t page = std::max<std::size_t>(1, options_.page_size);
  std::size_t given = 0;
  for (bool more = true; more;) {
    const std::size_t left = options.limit == 0 ? page : options.limit - given;
    request.set_limit(static_cast<std::int64_t>(std::min(left, page)));
    request.set_revision(result.revision);
    KX_ASSIGN_OR_RETURN(etcdserverpb::RangeResponse response, Range(request, what, stop));
    if (result.revision == 0) {
      result.revision = response.header().revision();
    }
    for (etcdserverpb::KeyValue& from : *response.mutable_kvs()) {
      if (stop.stop_requested()) {
        return storage::internal::Cancelled(what);
      }
      KeyValue kv = TakeKeyValue(from);
      if (options.keys_only) {
        kv.value = nullptr;
      }
      result.last_key = kv.key;
      ++given;
      KX_RETURN_IF_ERROR(sink(std::move(kv)));
    }
    more = response.more() && response.kvs_size() > 0;
    if (more && options.limit != 0 && given >= options.limit) {
      result.more = true;
      result.remaining = response.count() - response.kvs_size();
      more = false;
    }
    request.set_key(result.last_key + '\0');
  }
  if (stop.stop_requested()) {
    return storage::internal::Cancelled(what);
  }
  return result;
}

Result<std::int64_t> EtcdStore::Count(std::string_view prefix, std::stop_token stop) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::string(prefix));
  request.set_range_end(EndOf(prefix));
  request.set_count_only(true);
  KX_ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse response,
                      Range(request, "count of " + std::string(prefix), stop));
  return response.count();
}

Result<Revision> EtcdStore::CurrentRevision(std::stop_token stop) {
  etcdserverpb::RangeRequest request;
  request.set_key("/");  // it does not matter whether it exists
  request.set_count_only(true);
  KX_ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse response,
                      Range(request, "reading the revision", stop));
  return response.header().revision();
}

Result<void> EtcdStore::Compact(Revision revision, std::stop_token stop) {
  etcdserverpb::CompactionRequest request;
  request.set_revision(revision);
  etcdserverpb::CompactionResponse response;
  const grpc::Status status =
      Call(&etcdserverpb::KV::Stub::Compact, request, response, DeadlineFromNow(), stop);
  if (!stop.stop_requested() && IsFutureRevision(status)) {
    return CannotCompact(revision);
  }
  if (!status.ok()) {
    return Fail(Translate(status, "revision " + std::to_string(revision), stop));
  }
  return {};
}

}  // namespace kubexx::apiserver::storage::etcd3::internal

namespace kubexx::apiserver::storage::etcd3 {

apimachinery::Result<std::unique_ptr<Storage>> NewEtcd3Storage(Etcd3Options options) {
  KX_ASSIGN_OR_RETURN(std::unique_ptr<internal::Endpoints> endpoints,
                      internal::Endpoints::Make(options));
  return std::unique_ptr<Storage>(
      std::make_unique<internal::EtcdStore>(std::move(options), std::move(endpoints)));
}

}  // namespace kubexx::apiserver::storage::etcd3
