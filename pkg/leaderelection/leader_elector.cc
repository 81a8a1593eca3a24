#include "kubexx/leaderelection/leader_elector.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/leaderelection/election.h"
#include "kubexx/leaderelection/internal/call.h"
#include "kubexx/leaderelection/internal/mailbox.h"
#include "kubexx/leaderelection/internal/notifier.h"
#include "kubexx/leaderelection/internal/requester.h"
#include "kubexx/leaderelection/leader_election_metrics.h"
#include "kubexx/logging/log.h"

namespace kubexx::leaderelection {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Errors of a watch that trying again does not mend: most often a role without the verb.
bool IsHopeless(const apimachinery::Status& status) {
  return status.reason == Reason::kForbidden || status.reason == Reason::kMethodNotAllowed ||
         status.reason == Reason::kBadRequest;
}

constexpr int kHopelessInARow = 2;
constexpr std::size_t kMaxTold = 16;

}  // namespace

/// Shared by all runs: what other threads may ask for.
class LeaderElector::Impl {
 public:
  /// `lease` is the key of the lock.
  Impl(Options options, apimachinery::ObjectKey lease)
      : options_(std::move(options)), lease_(std::move(lease)) {
    if (options_.name.empty()) {
      options_.name = lease_.name;
    }
    if (options_.registry != nullptr) {
      metrics_ = LeaderElectionMetrics(*options_.registry, options_.name);
    }
  }

  Result<void> Run(const std::stop_token& stop);

  bool IsLeader() const {
    const base::MutexLock lock(mu_);
    return status_.leading && options_.clock.Now() < status_.leads_until;
  }
  std::string Leader() const {
    const base::MutexLock lock(mu_);
    return status_.leader;
  }
  std::string WhyLost() const {
    const base::MutexLock lock(mu_);
    return status_.why_lost;
  }
  Result<void> Check(base::Duration tolerance) const {
    const base::MutexLock lock(mu_);
    const base::Duration age = options_.clock.Now() - status_.renewed_at;
    if (status_.working && age > options_.config.lease_duration + tolerance) {
      return Fail(Reason::kTimeout, "leader election " + options_.name +
                                        ": the lease could not be renewed in time, but the work "
                                        "that only a leader may do is still running");
    }
    return {};
  }

 private:
  class Session;
  struct Status {
    bool leading = false;
    bool working = false;  ///< on_started_leading has not returned, or the leader has not stopped
    base::TimePoint leads_until{};
    base::TimePoint renewed_at{};
    std::string leader{};
    std::string why_lost{};
  };

  void Publish(const Election& election) {
    const base::MutexLock lock(mu_);
    status_.leading = election.holds();
    if (status_.leading) {
      status_.working = true;
      status_.leads_until = election.leads_until();
      status_.renewed_at = election.renewed_at();
    }
    status_.leader = election.leader();
  }
  void Lost(const std::string& why) {
    const base::MutexLock lock(mu_);
    status_.why_lost = why;
  }
  void EndWork() {
    const base::MutexLock lock(mu_);
    status_.working = false;
  }

  void Record(const char* what) {
    if (options_.recorder == nullptr) {
      return;
    }
    api::core::v1::ObjectReference lease;
    lease.api_version = "coordination.k8s.io/v1";
    lease.kind = "Lease";
    lease.namespace_ = lease_.namespace_;
    lease.name = lease_.name;
    internal::CallUser("TransitionRecorder::Record", [&] {
      options_.recorder->Record(lease, "LeaderElection", options_.config.identity + " " + what);
    });
  }

  Options options_;
  const apimachinery::ObjectKey lease_;
  LeaderElectionMetrics metrics_{};
  mutable base::Mutex mu_;
  Status status_ KX_GUARDED_BY(mu_);
};

/// One run: the election, and the threads around it.
class LeaderElector::Impl::Session {
 public:
  explicit Session(Impl& impl)
      : impl_(impl),
        options_(impl.options_),
        election_(impl.options_.config),
        mailbox_(impl.options_.clock),
        notifier_(impl.options_.callbacks.on_new_leader),
        requester_(*impl.options_.lock,
                   [this](Reply&& reply) {
                     reply.came_at = options_.clock.Now();
                     mailbox_.Put(std::move(reply));
                   }),
        watch_([this](const std::stop_token& stop) { Watch(stop); }) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Ends what may call into this object, in whatever order its members are.
  ~Session() {
    watch_.request_stop();
    work_.request_stop();
    if (work_.joinable()) {
      work_.join();
    }
  }

  Result<void> Run(const std::stop_token& stop) {
    logging::Info("Waiting for the leader's Lease",
                  {{"lease", impl_.lease_.ToString()}, {"identity", options_.config.identity}});
    std::stop_token until = stop;
    while (!finished_) {
      for (Input& input : mailbox_.Take(until, election_.wake())) {
        if (std::holds_alternative<Stop>(input)) {
          until = {};  // Once is enough; a token that stays requested would end every wait.
        } else if (const auto* reply = std::get_if<Reply>(&input)) {
          Tell(*reply);
        }
        const Actions actions = election_.Step(
            std::move(input), {.steady = options_.clock.Now(), .wall = options_.clock.Wall()});
        impl_.Publish(election_);
        Execute(actions);
      }
    }
    return End();
  }

 private:
  void Execute(const Actions& actions) {
    for (const Action& action : actions) {
      switch (action.kind) {
        case Action::Kind::kGet:
        case Action::Kind::kCreate:
        case Action::Kind::kUpdate:
          asked_ = {.op = action.op, .reads = action.kind == Action::Kind::kGet};
          requester_.Start(action);
          break;
        case Action::Kind::kCancel:
          requester_.Cancel(action.op);
          if (!action.text.empty()) {
            Warn(apimachinery::Status(Reason::kTimeout, action.text));
          }
          break;
        case Action::Kind::kStartWork:
          StartWork();
          break;
        case Action::Kind::kStopWork:
          work_.request_stop();
          break;
        case Action::Kind::kNewLeader:
          notifier_.Notify(action.text);
          break;
        case Action::Kind::kSlowPath:
          impl_.metrics_.slow_path.Increment();
          break;
        case Action::Kind::kLost:
          lost_ = action.text;
          impl_.Lost(action.text);
          if (options_.callbacks.on_lost) {
            internal::CallUser("on_lost", options_.callbacks.on_lost);
          }
          break;
        case Action::Kind::kFinish:
          finished_ = true;
          break;
      }
    }
  }

  // Nobody else tells a person why nobody leads. Once for each error, as it is tried on: until what
  // has failed succeeds. A read that succeeds says nothing of the writes between the reads.
  void Tell(const Reply& reply) {
    if (reply.op != asked_.op) {
      return;  // broken off
    }
    if (reply.lease) {
      std::erase_if(told_, [this](const auto& each) { return each.second || !asked_.reads; });
      return;
    }
    const apimachinery::Status& status = reply.lease.error();
    // What was broken off from here is no failure; why it was has been told where that is one.
    const bool usual = status.reason == Reason::kNotFound || status.reason == Reason::kConflict ||
                       status.reason == Reason::kAlreadyExists ||
                       status.reason == Reason::kCancelled;
    if (!usual) {
      Warn(status);
    }
  }

  void Warn(const apimachinery::Status& status) {
    std::string text = status.ToString();
    if (told_.size() == kMaxTold) {
      told_.clear();  // a part of the text is never the same
    }
    if (!told_.emplace(text, asked_.reads).second) {
      return;
    }
    if (!lines_) {
      lines_.emplace([lease = impl_.lease_.ToString()](const std::string& error) {
        logging::Warning("A request for the leader's Lease has failed and is tried again",
                         {{"lease", lease}, {"error", error}});
      });
    }
    lines_->Notify(std::move(text));
  }

  void StartWork() {
    led_ = true;
    impl_.metrics_.master_status.Set(1);
    watch_.request_stop();
    logging::Info("Acquired the leader's Lease",
                  {{"lease", impl_.lease_.ToString()}, {"identity", options_.config.identity}});
    impl_.Record("became leader");
    if (options_.clock.Now() >= election_.leads_until()) {
      return;  // so long it took to tell; the next step loses the lease
    }
    if (!options_.callbacks.on_started_leading) {
      mailbox_.Put(WorkEnded());
      return;
    }
    work_ = std::jthread([this](const std::stop_token& stop) {
      thrown_ = internal::CallUser("on_started_leading",
                                   [this, &stop] { options_.callbacks.on_started_leading(stop); });
      mailbox_.Put(WorkEnded());
      if (!thrown_.empty()) {
        mailbox_.Put(Stop());
      }
    });
  }

  Result<void> End() {
    impl_.metrics_.master_status.Set(0);
    work_.request_stop();
    if (led_) {
      LogEnd(impl_.lease_.ToString(), options_.config.identity);
      impl_.Record("stopped leading");
    }
    if (options_.callbacks.on_stopped_leading) {
      internal::CallUser("on_stopped_leading", options_.callbacks.on_stopped_leading);
    }
    if (work_.joinable()) {
      work_.join();
    }
    impl_.EndWork();
    const std::string context = "leader election " + options_.name + ": ";
    if (lost_) {
      return Fail(Reason::kUnavailable, context + "the lease was lost: " + *lost_);
    }
    if (!thrown_.empty()) {
      return Fail(Reason::kInternalError, context + "on_started_leading threw: " + thrown_);
    }
    return {};
  }

  void LogEnd(const std::string& lease, const std::string& identity) const {
    if (lost_) {
      logging::Error("Lost the leader's Lease",
                     {{"lease", lease}, {"identity", identity}, {"reason", *lost_}});
    } else {
      logging::Info("Stopped leading", {{"lease", lease}, {"identity", identity}});
    }
  }

  Result<void> WatchOnce(const std::stop_token& stop) {
    try {
      return options_.lock->Watch(
          [this](Lease&& lease) { mailbox_.Put(Seen{.lease = std::move(lease)}); }, stop);
    } catch (...) {
      const std::string error = base::ThrownText();
      if (std::exchange(watch_threw_, error) != error) {  // it may do so every time
        logging::Error("The lock threw while it watched the leader's Lease, and is to watch again",
                       {{"lease", impl_.lease_.ToString()}, {"error", error}});
      }
      return Fail(Reason::kInternalError, error);
    }
  }

  /// Until this candidate leads: reports changes of the lease as they happen. Polling goes on
  /// beside, so nothing depends on it.
  void Watch(const std::stop_token& stop) {
    int hopeless = 0;
    while (!stop.stop_requested()) {
      const Result<void> ended = WatchOnce(stop);
      hopeless = !ended && IsHopeless(ended.error()) ? hopeless + 1 : 0;
      // A server that is starting says so, too, and a moment later no more.
      if (hopeless >= kHopelessInARow) {
        logging::Info(
            "Cannot watch the leader's Lease; this process notices its release only at the next "
            "poll",
            {{"lease", impl_.lease_.ToString()}, {"error", ended.error()}});
        return;
      }
      options_.clock.SleepFor(options_.config.retry_period, stop);
    }
  }

  Impl& impl_;
  const Options& options_;
  Election election_;
  std::optional<std::string> lost_{};
  bool finished_ = false;
  bool led_ = false;
  struct Asked {
    std::uint64_t op = 0;
    bool reads = true;
  };
  Asked asked_{};                       // the last request
  std::map<std::string, bool> told_{};  // the errors that the log has had, and whether of a read
  // Where nobody reads the log a line waits, and the time of the lease goes on; so none is written
  // on the thread that keeps that time, while it leads.
  std::optional<internal::Notifier> lines_;
  std::string watch_threw_{};  // what the log has been told last; of watch_ only
  std::string thrown_{};       // Written by work_, read when it has been joined.
  internal::Mailbox mailbox_;
  internal::Notifier notifier_;
  internal::Requester requester_;
  std::jthread watch_;
  std::jthread work_;
};

Result<void> LeaderElector::Impl::Run(const std::stop_token& stop) {
  Lost("");
  Session session(*this);
  return session.Run(stop);
}

LeaderElector::LeaderElector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LeaderElector::~LeaderElector() = default;

Result<std::unique_ptr<LeaderElector>> LeaderElector::New(Options options) {
  if (options.lock == nullptr) {
    return Fail(Reason::kInvalidConfig, "leader election: there is no lock to elect about");
  }
  if (options.config.identity.empty()) {
    options.config.identity = DefaultIdentity();
  }
  KX_RETURN_IF_ERROR(options.config.Validate());
  apimachinery::ObjectKey lease;
  try {
    lease = options.lock->Key();
  } catch (...) {
    return Fail(Reason::kInvalidConfig,
                "leader election: the lock's Key threw: " + base::ThrownText());
  }
  return std::unique_ptr<LeaderElector>(
      new LeaderElector(std::make_unique<Impl>(std::move(options), std::move(lease))));
}

Result<void> LeaderElector::Run(std::stop_token stop) { return impl_->Run(stop); }
bool LeaderElector::IsLeader() const { return impl_->IsLeader(); }
std::string LeaderElector::Leader() const { return impl_->Leader(); }
std::string LeaderElector::WhyLost() const { return impl_->WhyLost(); }
Result<void> LeaderElector::Check(base::Duration tolerance) const {
  return impl_->Check(tolerance);
}

}  // namespace kubexx::leaderelection
