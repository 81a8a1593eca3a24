// Follows workloads, sources and policies, and makes the page's records of them.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_LIVE_VIEW_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_LIVE_VIEW_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "judge.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/observe/explain_turn.h"
#include "kubexx/reloader/ui/live_records.h"
#include "kubexx/reloader/ui/state_feed.h"
#include "kubexx/reloader/ui/wave_board.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/rest/rest_client.h"
#include "namespace_view.h"

namespace kubexx {

/// What the page shows of one namespace, or of all, by the rules of one operator. Writes nothing to
/// the cluster. Thread-safe.
class LiveView {
 public:
  /// Adds records that others make, once in a second.
  using Further = std::function<void(std::map<std::string, std::string>& records)>;

  /// Begins to list and to watch. `feed` must outlive this object. `namespace_`: empty means all.
  LiveView(std::shared_ptr<rest::RESTClient> client, Judge judge, std::string namespace_,
           reloader::StateFeed& feed, Further further);
  /// Stops.
  ~LiveView() = default;
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  /// See reloader::WorkloadDetails. Asks the API server.
  apimachinery::Result<std::string> Details(const reloader::WorkloadId& id,
                                            const std::stop_token& stop);
  /// What `history` shows of the source, from the caches.
  std::string HistoryOf(const reloader::SourceId& source) const;

 private:
  using Edits = std::map<std::string, std::string>;

  reloader::LiveRecords::Options RecordOptions(Further further);
  void AddHandlers();
  void OnWorkload(reloader::WorkloadKind kind, const cache::RawEvent& event);
  void OnSource(reloader::SourceType type, const cache::RawEvent& event);
  void TouchUsersOf(const reloader::SourceId& source);
  /// Touches the users of sources of other namespaces that have changed, where these are not
  /// watched.
  void RefreshForeign(const std::stop_token& stop);
  reloader::LiveRecords::Look LookAt(const reloader::WorkloadId& id, const std::stop_token& stop);
  /// Why the operator does not watch the workload; empty when it does.
  std::string WhyUnwatched(const reloader::WorkloadId& id, const std::stop_token& stop);
  apimachinery::Result<reloader::Explanation> ExplainNow(const reloader::Workload& workload,
                                                         const std::stop_token& stop);
  /// The workloads that may use the source, as they were at most an interval ago.
  std::vector<reloader::Workload> UsersOf(const reloader::SourceId& source);
  void AddPolicies(Edits& records);
  template <class T>
  void AddPoliciesOf(const cache::SharedInformer<T>& informer, Edits& records);
  void AddOverview(std::size_t left_out, Edits& records);
  /// What may not be read, or is not read yet, as sentences.
  std::vector<std::string> Gaps() const;

  const std::shared_ptr<rest::RESTClient> client_;
  const Judge judge_;
  const std::string namespace_;
  NamespaceView view_;
  const base::TimePoint started_ = base::Clock::Real().Now();

  // What follows is used by the thread of records_ only.
  struct Labels {
    base::TimePoint read{};
    apimachinery::Result<apimachinery::LabelMap> labels{};
  };
  std::map<std::string, Labels> labels_;
  reloadpolicy::Arbiter arbiter_;
  /// The policies that arbiter_ knows, with their generations.
  std::map<reloadpolicy::PolicyId, std::int64_t> generations_;
  std::vector<std::string> unread_;
  std::map<reloader::SourceId, std::vector<reloader::Workload>> users_;
  reloader::WaveLines wave_lines_;
  reloader::WaveBoard waves_;
  /// The policies' records, of this state of policies and waves.
  std::vector<std::string> policy_state_;
  Edits policy_records_;
  bool is_complete_ = false;  ///< everything that may be listed has been

  reloader::LiveRecords records_;
  std::vector<cache::HandlerRegistration> handlers_;  // last: ends first
};

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_LIVE_VIEW_H_
