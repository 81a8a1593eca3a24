/// @file
/// Knows what should be, from what the server has stored.
#ifndef KUBEXX_TEST_SIMULATION_ORACLE_H_
#define KUBEXX_TEST_SIMULATION_ORACLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "timeline.h"

namespace kubexx::simulation {

/// Follows the storage below the API server, so it sees every version of every object in order, and
/// holds the operators to their promise: pods run with the data that is there now, and nothing is
/// rolled more often than its data has changed. Thread-safe.
class Oracle {
 public:
  /// What it follows begins after this revision.
  static constexpr apiserver::storage::Revision kFirst = 1;

  /// Begins to follow `storage`, which must outlive it.
  Oracle(apiserver::storage::Storage& storage, Timeline& timeline);
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// A workload that runs with other data than its sources have, or that an operator has recorded
  /// other data for, in a sentence; nothing when there is none.
  std::optional<std::string> Stale();
  /// To be asked when nothing is stale: a workload that was rolled more often than there was a
  /// reason to since the last call. Begins anew.
  std::optional<std::string> TooMany();
  /// Who holds the Lease; empty: nobody does.
  std::string HolderOf(const std::string& lease);

  /// A workload whose spec has not been acted on, as its status tells.
  struct Unfinished {
    std::string plural{};  ///< "deployments"
    std::string space{};
    std::string name{};
    std::int64_t generation = 0;
    std::int64_t replicas = 0;
  };
  std::vector<Unfinished> UnfinishedWorkloads();

  std::uint64_t rollouts();
  std::uint64_t changes();
  std::uint64_t events();

 private:
  struct Workload {
    std::string template_text{};  ///< the whole template
    std::string others_text{};    ///< without what operators write there
    /// What its pods read when they were made: the data of each source; nothing: there was none.
    std::map<std::string, std::optional<std::string>> read{};
    std::string baseline{};  ///< what an operator has recorded that it runs with
    std::int64_t generation = 0;
    std::int64_t observed = 0;
    std::int64_t replicas = 0;
    std::uint64_t rolled = 0;
    std::uint64_t reasons = 0;
  };

  void Follow(const std::stop_token& stop);
  void Apply(const apiserver::storage::Event& event);
  /// Workloads that use the source may be rolled once more.
  void AddReasonLocked(const std::string& source) KX_REQUIRES(mu_);
  void OnSourceLocked(const std::string& key, std::optional<std::string> data) KX_REQUIRES(mu_);
  void OnWorkloadLocked(const std::string& key, codec::JsonTree object) KX_REQUIRES(mu_);
  static void FindSources(Workload& workload, const std::string& space, const codec::JsonTree& pod);
  /// Its pods are new.
  void ReadLocked(Workload& workload) KX_REQUIRES(mu_);
  /// Whether the baseline says of the source that it has these data.
  bool IsRecordedLocked(const std::string& workload, const std::string& source) KX_REQUIRES(mu_);

  apiserver::storage::Storage& storage_;
  Timeline& timeline_;
  base::Mutex mu_;
  std::map<std::string, std::string> data_ KX_GUARDED_BY(mu_);  ///< by source
  std::set<std::string> paused_ KX_GUARDED_BY(mu_);             ///< sources
  std::map<std::string, Workload> workloads_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string> holders_ KX_GUARDED_BY(mu_);  ///< by Lease
  std::uint64_t rollouts_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t changes_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t events_ KX_GUARDED_BY(mu_) = 0;
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_ORACLE_H_
