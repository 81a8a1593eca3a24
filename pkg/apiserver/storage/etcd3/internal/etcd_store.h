/// @file
/// The store that NewEtcd3Storage makes.
#ifndef KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ETCD_STORE_H_
#define KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ETCD_STORE_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "etcd.grpc.pb.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"
#include "kubexx/apiserver/storage/etcd3/internal/endpoints.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::storage::etcd3::internal {

/// A Storage that reads and writes an etcd. Each Watch is one gRPC stream.
class EtcdStore final : public Storage {
 public:
  EtcdStore(Etcd3Options options, std::unique_ptr<Endpoints> endpoints);
  ~EtcdStore() override;

  apimachinery::Result<KeyValue> Get(std::string_view key, Revision revision,
                                     std::stop_token stop) override;
  apimachinery::Result<KeyValue> Create(std::string_view key, std::string value,
                                        std::stop_token stop) override;
  apimachinery::Result<Swap> CompareAndSwap(std::string_view key, Revision expected,
                                            std::string value, std::stop_token stop) override;
  apimachinery::Result<Deleted> Delete(std::string_view key, Revision expected,
                                       std::stop_token stop) override;
  apimachinery::Result<ListResult> GetList(std::string_view prefix, const ListOptions& options,
                                           ItemSink sink, std::stop_token stop) override;
  apimachinery::Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override;
  apimachinery::Result<Revision> CurrentRevision(std::stop_token stop) override;
  apimachinery::Result<void> Watch(std::string_view prefix, const WatchOptions& options,
                                   EventSink sink, std::stop_token stop) override;
  void RequestProgress(std::string_view prefix) override;
  apimachinery::Result<void> Compact(Revision revision, std::stop_token stop) override;
  StorageHealth CheckHealth(base::Duration timeout, std::stop_token stop) override;

 private:
  class Asker;
  class Registered;

  // Makes one call on the calling thread. A read whose connection broke is sent again.
  template <class Request, class Response>
  grpc::Status Call(grpc::Status (etcdserverpb::KV::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Response*),
                    const Request& request, Response& response, Deadline deadline,
                    const std::stop_token& stop);
  apimachinery::Result<etcdserverpb::RangeResponse> Range(const etcdserverpb::RangeRequest& request,
                                                          std::string_view what,
                                                          const std::stop_token& stop);
  apimachinery::Result<etcdserverpb::TxnResponse> Transact(const etcdserverpb::TxnRequest& request,
                                                           std::string_view what,
                                                           const std::stop_token& stop);
  Deadline DeadlineFromNow() const;
  /// Returns kExpired when a watch continues from a revision that this etcd has not given out.
  /// `seen` is the revision that a member has reported.
  apimachinery::Result<void> CheckHistory(Revision seen, const WatchOptions& options,
                                          std::string_view what, const std::stop_token& stop);

  // These are in etcd_compact.cc.
  struct Compaction;
  void CompactLoop(const std::stop_token& stop);
  apimachinery::Result<void> CompactOld(Compaction& state, const std::stop_token& stop);

  const Etcd3Options options_;
  const std::unique_ptr<Endpoints> endpoints_;

  base::Mutex mu_;
  std::list<Asker*> askers_ KX_GUARDED_BY(mu_);  // those of the open watches
  bool lost_ KX_GUARDED_BY(mu_) = false;         // the result of the last CheckHealth

  std::jthread compactor_;
};

}  // namespace kubexx::apiserver::storage::etcd3::internal

#endif  // KUBEXX_APISERVER_STORAGE_ETCD3_INTERNAL_ETCD_STORE_H_
