#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apiserver/storage/etcd3/internal/etcd_store.h"
#include "kubexx/apiserver/storage/etcd3/internal/translate.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::etcd3::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Result;

// With this key, all API servers on one etcd agree on which of them compacts: the one that changes
// the key at the end of an interval in which no other did. The name is kube-apiserver's.
constexpr std::string_view kCompactKey = "compact_rev_key";

}  // namespace

/// The state at the end of the last interval.
struct EtcdStore::Compaction {
  Revision key_modified = 0;  // of kCompactKey
  Revision revision = 0;      // of the store; it is compacted at the end of the next interval
};

void EtcdStore::CompactLoop(const std::stop_token& stop) {
  Compaction state;
  while (base::Clock::Real().SleepFor(options_.compact_interval, stop)) {
    const Result<void> done = CompactOld(state, stop);
    if (!done && !stop.stop_requested()) {
      logging::Warning("Cannot compact etcd; the server tries again after the interval",
                       {{"error", done.error()}});
    }
  }
}

Result<void> EtcdStore::CompactOld(Compaction& state, const std::stop_token& stop) {
  etcdserverpb::TxnRequest request = IfModifiedAt(kCompactKey, state.key_modified);
  etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(std::string(kCompactKey));
  put.set_value(std::to_string(state.revision));
  AddRead(*request.mutable_failure(), kCompactKey, true);
  KX_ASSIGN_OR_RETURN(etcdserverpb::TxnResponse response, Transact(request, "compaction", stop));
  const Revision old = state.revision;
  state.revision = response.header().revision();
  if (!response.succeeded()) {
    state.key_modified = TakeLastRead(response).mod_revision;
    return {};
  }
  state.key_modified = state.revision;
  if (old == 0) {
    return {};
  }
  Result<void> done = Compact(old, stop);
  if (!done && done.error().reason == Reason::kExpired) {
    return {};
  }
  return done;
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
