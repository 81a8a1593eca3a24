/// @file
/// Knows what should be, from what the server has stored.
#ifndef KUBEXX_TEST_ORACLE_ORACLE_H_
#define KUBEXX_TEST_ORACLE_ORACLE_H_

#include <cstdint>
#include <functional>
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

namespace kubexx::oracle {

/// How an Oracle judges.
struct OracleOptions {
  /// What it follows begins after this revision.
  apiserver::storage::Revision first = 1;
  /// A rollout whose record has the present data of all sources uses up every reason from before
  /// it. Without this a reason counts until the next call of TooMany.
  bool exact = false;
};

/// Follows the storage below the API server, so it sees every version of every object in order, and
/// holds the operators to their promise: pods run with the data that is there now, and nothing is
/// rolled more often than its data has changed. Objects are stored as JSON. Thread-safe.
class Oracle {
 public:
  /// Told of what happens, on the thread that follows: who did what. May not call the oracle.
  using Tell = std::function<void(std::string_view who, std::string_view what)>;

  /// Begins to follow `storage`, which must outlive it.
  Oracle(apiserver::storage::Storage& storage, Tell tell, OracleOptions options = {});
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// OldPods, else OldRecord.
  std::optional<std::string> Stale();
  /// A workload that runs with other data than its sources have, in a sentence; nothing when there
  /// is none.
  std::optional<std::string> OldPods();
  /// A workload that an operator has recorded other data for, though nobody has undone its last
  /// rollout.
  std::optional<std::string> OldRecord();
  /// To be asked when no pods are old: a workload that was rolled more often than there was a
  /// reason to since the last call. Begins anew.
  std::optional<std::string> TooMany();
  /// Who holds the Lease; empty: nobody does.
  std::string HolderOf(const std::string& lease);

  /// A pod template that was there, and the annotations that its workload had then.
  struct Former {
    codec::JsonTree pod_template{};
    codec::JsonTree annotations{};
  };
  /// What a person could bring back: that of before the last change of the template. `workload` is
  /// "deployments/ns/name".
  std::optional<Former> FormerOf(const std::string& workload);
  /// When the workload's template becomes this one, that is a person's doing and no operator's. To
  /// be called before the request.
  void ExpectUndo(const std::string& workload, const codec::JsonTree& pod_template);

  /// A workload whose spec has not been acted on, as its status tells.
  struct Unfinished {
    std::string plural{};  ///< "deployments"
    std::string space{};
    std::string name{};
    std::int64_t generation = 0;
    std::int64_t replicas = 0;
  };
  std::vector<Unfinished> UnfinishedWorkloads();

  struct Counts {
    std::uint64_t events = 0;
    std::uint64_t changes = 0;   ///< of data
    std::uint64_t rollouts = 0;  ///< by operators
    /// Of those, how many gave pods no other data than those that they replaced had.
    std::uint64_t without_news = 0;
    /// Of those, how many only a doubt allows that an operator may have: see docs/simulation.md.
    std::uint64_t doubted = 0;
    std::uint64_t undone = 0;  ///< by people
  };
  Counts counts();
  /// The last revision that it has been told of.
  apiserver::storage::Revision seen();

 private:
  struct Workload {
    std::string template_text{};  ///< the whole template
    std::string others_text{};    ///< without what operators write there
    std::string annotations{};    ///< of the workload
    std::string former_template{};
    std::string former_annotations{};
    /// What its pods read when they were made: the data of each source; nothing: there was none.
    std::map<std::string, std::optional<std::string>> read{};
    std::string baseline{};  ///< what an operator has recorded that it runs with
    std::int64_t generation = 0;
    std::int64_t observed = 0;
    std::int64_t replicas = 0;
    std::uint64_t rolled = 0;
    std::uint64_t reasons = 0;
    std::uint64_t doubts = 0;
    bool undone = false;  ///< since the last rollout by an operator
  };
  /// Who changed a template.
  enum class By : std::uint8_t { kMaker, kOperator, kUndoer, kOther };

  void Follow(const std::stop_token& stop);
  void Apply(const apiserver::storage::Event& event);
  void ForgetLocked(const std::string& key) KX_REQUIRES(mu_);
  void OnLeaseLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// Workloads that use the source may be rolled once more.
  void AddReasonLocked(const std::string& source) KX_REQUIRES(mu_);
  void OnSourceLocked(const std::string& key, std::optional<std::string> data) KX_REQUIRES(mu_);
  void OnWorkloadLocked(const std::string& key, const codec::JsonTree& object) KX_REQUIRES(mu_);
  /// What is beside the template.
  void TakeStateLocked(Workload& workload, const codec::JsonTree& object, bool is_new)
      KX_REQUIRES(mu_);
  By WhoChangedLocked(const std::string& key, const Workload& workload, const std::string& text,
                      const std::string& others, bool is_new) KX_REQUIRES(mu_);
  void CountRolloutLocked(const std::string& key, Workload& workload) KX_REQUIRES(mu_);
  void JudgeLocked(const std::string& key, Workload& workload) KX_REQUIRES(mu_);
  /// Its pods are new. Whether they have other data than those before.
  bool ReadLocked(Workload& workload) KX_REQUIRES(mu_);
  /// Whether its baseline has the present data of all sources that are there.
  bool IsUpToDateLocked(const Workload& workload) KX_REQUIRES(mu_);

  apiserver::storage::Storage& storage_;
  const Tell tell_;
  const OracleOptions options_;
  base::Mutex mu_;
  std::map<std::string, std::string> data_ KX_GUARDED_BY(mu_);  ///< by source
  std::set<std::string> paused_ KX_GUARDED_BY(mu_);             ///< sources
  std::map<std::string, Workload> workloads_ KX_GUARDED_BY(mu_);
  std::set<std::string> deleted_ KX_GUARDED_BY(mu_);                ///< workloads
  std::map<std::string, std::string> expected_ KX_GUARDED_BY(mu_);  ///< templates
  std::map<std::string, std::string> holders_ KX_GUARDED_BY(mu_);   ///< by Lease
  std::optional<std::string> too_many_ KX_GUARDED_BY(mu_);
  std::optional<std::string> blind_ KX_GUARDED_BY(mu_);  ///< why it does not see any more
  apiserver::storage::Revision seen_ KX_GUARDED_BY(mu_);
  Counts counts_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_ORACLE_H_
