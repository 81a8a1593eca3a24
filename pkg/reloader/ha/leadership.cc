#include "kubexx/reloader/ha/leadership.h"

#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using leaderelection::LeaderElector;

// The time for which work may go on after the Lease was lost. The value is that of Kubernetes' own
// components.
constexpr base::Duration kHealthTolerance = std::chrono::seconds(20);
// The time between a lost Lease and the next campaign, so that a server in trouble does not get
// requests in a loop.
constexpr base::Duration kCampaignPause = std::chrono::seconds(1);

}  // namespace

std::string LeaseNameOf(int shard, int shards) {
  return shards == 1 ? std::string(kLeaseName)
                     : std::string(kLeaseName) + "-" + std::to_string(shard);
}

class Leadership::Impl {
 public:
  Impl(Options options, HeldShards& held, Membership* membership)
      : options_(std::move(options)), held_(held), membership_(membership), made_(MakeElectors()) {}
  ~Impl() { Stop(); }

  Result<void> Start() {
    KX_RETURN_IF_ERROR(made_);
    for (int shard = 0; shard < held_.shards(); ++shard) {
      threads_.emplace_back([this, shard] { Campaign(shard, stop_.get_token()); });
    }
    return {};
  }

  void Stop() {
    stop_.request_stop();
    threads_.clear();  // this joins the threads
  }

  Result<void> Check() const {
    for (const auto& elector : electors_) {
      KX_RETURN_IF_ERROR(elector->Check(kHealthTolerance));
    }
    return {};
  }

 private:
  Result<void> MakeElectors() {
    for (int shard = 0; shard < held_.shards(); ++shard) {
      KX_ASSIGN_OR_RETURN(auto elector, NewElector(shard));
      electors_.push_back(std::move(elector));
      Held(shard).Set(0);
    }
    return {};
  }

  Result<std::unique_ptr<LeaderElector>> NewElector(int shard) {
    leaderelection::Callbacks callbacks;
    callbacks.on_started_leading = [this, shard](const std::stop_token& stop) {
      Lead(shard, stop);
    };
    callbacks.on_new_leader = [shard](const std::string& identity) {
      logging::Info("A shard has a new leader", {{"shard", shard}, {"leader", identity}});
    };
    return LeaderElector::New({.config = options_.election,
                               .lock = options_.lock(shard),
                               .callbacks = std::move(callbacks),
                               .name = LeaseNameOf(shard, held_.shards()),
                               .clock = options_.clock,
                               .registry = options_.registry});
  }

  void Campaign(int shard, const std::stop_token& stop) {
    LeaderElector& elector = *electors_[static_cast<std::size_t>(shard)];
    while (!stop.stop_requested()) {
      std::stop_source tenure;
      const auto end = [&tenure] { tenure.request_stop(); };
      const std::stop_callback until_stop(stop, end);
      std::optional<std::stop_token> assignment = std::stop_token();
      if (membership_ != nullptr) {
        assignment = membership_->AwaitAssigned(shard, stop);
        if (!assignment) {
          return;
        }
      }
      const std::stop_callback until_moved(*assignment, end);
      if (const auto ran = elector.Run(tenure.get_token()); !ran) {
        logging::Warning("Lost the Lease of a shard; this replica tries to acquire it again",
                         {{"shard", shard}, {"error", ran.error()}});
        (void)options_.clock.SleepFor(kCampaignPause, stop);
      }
    }
  }

  metrics::Gauge Held(int shard) const {
    return options_.registry == nullptr
               ? metrics::Gauge()
               : options_.registry->Gauge(
                     "kubexx_reloader_shard_held",
                     "1 for the shards whose namespaces this replica works on.",
                     {{"shard", std::to_string(shard)}});
  }

  // Does the work of a leader: the shard is open as long as this runs.
  void Lead(int shard, const std::stop_token& stop) {
    LeaderElector& elector = *electors_[static_cast<std::size_t>(shard)];
    const metrics::Gauge held = Held(shard);
    held_.Open(shard, [&elector] { return elector.IsLeader(); });
    held.Set(1);
    logging::Info("This replica leads a shard",
                  {{"shard", shard}, {"identity", options_.election.identity}});
    if (options_.on_acquired) {
      options_.on_acquired(shard);
    }
    base::WaitUntilStopped(stop);
    // No other replica writes while this one holds the Lease. After a loss there is no time to
    // wait.
    held_.Close(shard, elector.IsLeader() ? options_.write_grace : base::Duration(0));
    held.Set(0);
    logging::Info("This replica no longer leads a shard", {{"shard", shard}});
  }

  const Options options_;
  HeldShards& held_;
  Membership* const membership_;
  std::stop_source stop_;
  /// All electors exist from the beginning, because Check is called before Start, and while it
  /// runs.
  std::vector<std::unique_ptr<LeaderElector>> electors_;
  const Result<void> made_;
  std::vector<std::jthread> threads_;
};

Leadership::Leadership(Options options, HeldShards& held, Membership* membership)
    : impl_(std::make_unique<Impl>(std::move(options), held, membership)) {}
Leadership::~Leadership() = default;
Result<void> Leadership::Start() { return impl_->Start(); }
void Leadership::Stop() { impl_->Stop(); }
Result<void> Leadership::Check() const { return impl_->Check(); }

}  // namespace kubexx::reloader
