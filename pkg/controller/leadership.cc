#include "kubexx/controller/leadership.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using leaderelection::LeaderElector;

// The time for which a leader that cannot renew counts as healthy. The value is that of Kubernetes'
// own components.
constexpr base::Duration kTolerance = std::chrono::seconds(20);

constexpr base::Duration kLongestGrace = std::chrono::seconds(1);

class LeaseLeadership final : public Leadership {
 public:
  explicit LeaseLeadership(base::Duration grace) : grace_(grace) {}
  void SetElector(std::unique_ptr<LeaderElector> elector) { elector_ = std::move(elector); }

  /// The elector calls this on its thread.
  void Lead(const std::stop_token& stop) const { lead_(stop); }

  Result<void> Run(Leadership::Lead lead, std::stop_token stop) override {
    lead_ = std::move(lead);
    return elector_->Run(std::move(stop));
  }
  /// The elector calls this on its thread, too.
  void NoteLoss() { lost_.request_stop(); }
  std::stop_token Lost() const override { return lost_.get_token(); }
  std::string WhyLost() const override { return elector_->WhyLost(); }
  bool Leads() const override { return elector_->IsLeader(); }
  base::Duration GraceAfterLoss() const override { return grace_; }
  Result<void> Check() const override { return elector_->Check(kTolerance); }

 private:
  const base::Duration grace_;
  Leadership::Lead lead_;
  std::stop_source lost_;
  std::unique_ptr<LeaderElector> elector_;
};

}  // namespace

Result<std::shared_ptr<Leadership>> NewLeaseLeadership(const LeaderElectionOptions& options,
                                                       const rest::Config& connection,
                                                       base::Clock& clock,
                                                       metrics::Registry* registry,
                                                       leaderelection::TransitionRecorder* recorder,
                                                       std::shared_ptr<tracing::Tracer> tracer) {
  if (options.lease.name.empty() || options.lease.namespace_.empty()) {
    return Fail(Reason::kInvalidConfig, "leader election: the lease needs a namespace and a name");
  }
  // The election has a client of its own, so that it neither waits for the rate limit of other
  // requests nor makes them wait.
  KX_ASSIGN_OR_RETURN(
      auto client,
      rest::RESTClient::New(leaderelection::LockClientConfig(connection),
                            {.clock = clock, .registry = registry, .tracer = std::move(tracer)}));
  // Another process may lead as soon as the lease expires, which is so long after its loss.
  const base::Duration rest = options.config.lease_duration - options.config.LeadLimit();
  auto leadership = std::make_shared<LeaseLeadership>(std::min(kLongestGrace, rest));
  LeaseLeadership* const raw = leadership.get();
  LeaderElector::Options elector_options{
      .config = options.config,
      .lock = std::make_shared<leaderelection::LeaseLock>(std::move(client), options.lease),
      .callbacks = {.on_started_leading = [raw](const std::stop_token& stop) { raw->Lead(stop); },
                    .on_lost = [raw] { raw->NoteLoss(); }},
      .clock = clock,
      .registry = registry,
      .recorder = recorder};
  KX_ASSIGN_OR_RETURN(auto elector, LeaderElector::New(std::move(elector_options)));
  leadership->SetElector(std::move(elector));
  return std::shared_ptr<Leadership>(std::move(leadership));
}

}  // namespace kubexx::controller
