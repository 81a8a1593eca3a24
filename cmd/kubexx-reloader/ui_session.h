// What the page shows, for as long as the program runs: it outlives outages of the cluster, and
// operators that are replaced.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_UI_SESSION_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_UI_SESSION_H_

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "judge.h"
#include "kubexx/base/mutex.h"
#include "kubexx/flags/flags.h"
#include "kubexx/reloader/ui/event_streams.h"
#include "kubexx/reloader/ui/state_feed.h"
#include "kubexx/rest/rest_client.h"
#include "live_view.h"
#include "running_operator.h"

namespace kubexx {

/// Follows the cluster by the rules of its operator. Looks for operators again and again, and when
/// those have changed, begins anew with their rules; asks the API server at intervals whether it
/// answers, and tells the page when it does not. Thread-safe.
class UiSession {
 public:
  struct Options {
    std::string namespace_{};            ///< empty: all
    std::string operator_namespace{};    ///< see Questioned
    reloader::Config own{};              ///< those of the command line
    flags::FlagSet::GivenFlags given{};  ///< see FindJudge
  };
  UiSession(std::shared_ptr<rest::RESTClient> client, Options options);

  reloader::EventStreams& streams() { return streams_; }
  /// For PageServer.
  apimachinery::Result<std::string> Workload(const reloader::WorkloadId& id,
                                             const std::stop_token& stop) const;
  apimachinery::Result<std::string> Source(const reloader::SourceId& id,
                                           const std::stop_token& stop) const;

  /// Works until `stop` is requested. Call it once.
  void Run(const std::stop_token& stop);

 private:
  /// The names and flags of operators, by which a change is seen.
  using Operators = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::shared_ptr<LiveView> view() const;
  std::shared_ptr<LiveView> TakeView();
  /// Asks whether the API server answers.
  void Probe(const std::stop_token& stop);
  /// Looks for the operators, and begins anew when they have changed. Returns false when they could
  /// not be looked for.
  bool LookForOperators(const std::stop_token& stop);
  void Begin(const std::stop_token& stop);
  void AddRecords(std::map<std::string, std::string>& records) const;

  const std::shared_ptr<rest::RESTClient> client_;
  const Options options_;
  reloader::StateFeed feed_;
  reloader::EventStreams streams_;
  std::optional<Operators> operators_;  ///< of the last look; used by Run only
  mutable base::Mutex mu_;
  std::string unreachable_
      KX_GUARDED_BY(mu_);                 ///< why the API server does not answer; empty: it does
  std::string since_ KX_GUARDED_BY(mu_);  ///< when it stopped to, RFC 3339
  std::string operators_error_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string> operator_records_ KX_GUARDED_BY(mu_);
  std::shared_ptr<LiveView> view_ KX_GUARDED_BY(mu_);  // last: ends first
};

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_UI_SESSION_H_
