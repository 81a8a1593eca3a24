/// @file
/// Election: the decisions of one candidate in a leader election, without threads, clocks or I/O.
#ifndef KUBEXX_LEADERELECTION_ELECTION_H_
#define KUBEXX_LEADERELECTION_ELECTION_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/config.h"

namespace kubexx::leaderelection {

using api::coordination::v1::Lease;

/// The time of a step. Decisions use the steady time, and leases are written with the wall time.
struct Instant {
  base::TimePoint steady{};
  base::WallTime wall{};
};

/// An input of a step: time has passed.
struct Tick {};
/// An input of a step: the request `op` has ended, with the lease as it is stored, or an error.
struct Reply {
  std::uint64_t op = 0;
  apimachinery::Result<Lease> lease{};
  /// When the answer came, which may be long before the step; nothing means with the step.
  std::optional<base::TimePoint> came_at{};
};
/// An input of a step: a watch has seen the lease.
struct Seen {
  Lease lease{};
};
/// An input of a step: the candidate should stop.
struct Stop {};
/// An input of a step: the work that kStartWork began has ended.
struct WorkEnded {};
/// The input of a step, which tells what has happened.
using Input = std::variant<Tick, Reply, Seen, Stop, WorkEnded>;

/// Something that the caller of a step has to do.
struct Action {
  enum class Kind : std::uint8_t {
    kGet,        ///< read the lease, then Reply with `op`
    kCreate,     ///< create `lease`, then Reply
    kUpdate,     ///< replace the lease by `lease`, at its resource version, then Reply
    kCancel,     ///< cancel the request `op`, which needs no Reply any more; `text` says what was
                 ///< wrong with it, if anything was
    kStartWork,  ///< this candidate leads from now on: start the work
    kStopWork,   ///< the work has to end; the lease is renewed until WorkEnded
    kNewLeader,  ///< `text` is the leader's identity
    kSlowPath,   ///< a renewal needed more than one request, which should be counted
    kLost,       ///< the lease is lost, and `text` says why: the work has to end at once
    kFinish,     ///< the candidate has finished; further steps do nothing
  };
  Kind kind = Kind::kGet;
  std::uint64_t op = 0;
  Lease lease{};
  std::string text{};
};
/// What the caller of a step has to do, in this order.
using Actions = std::vector<Action>;

/// One candidate, from its start until it has stopped or lost the lease. It is a pure state
/// machine: the same inputs at the same times give the same actions. At most one request is open at
/// a time, and it is cancelled after Config::RequestTimeout. Not thread-safe.
///
/// Semantics: client-go's leaderelection with LeaseLock. A lease counts as expired when its spec
/// has not changed for its duration by the local clock; the times in it are never compared. The
/// leader renews with one PUT at the version that it wrote last, and reads only when that fails.
/// The following differences serve safety or a faster hand-over:
///  - The leader's time begins when a write is sent, not when its reply comes, and lasts for
///    Config::LeadLimit at most. A thread that is late by more loses the lease without another
///    attempt, where client-go tries again: by then another candidate may be about to lead. But an
///    answer that came in time counts however late its step is, as in client-go.
///  - A leader that reads another name in the lease stops at once, not after renew_deadline.
///  - A waiting candidate takes a lease as soon as its watch sees it released, or when the lease
///    expires, and not only at its next poll. It polls as well.
///  - After Stop the leader renews the lease until its work has ended, and only then releases it.
///    It never releases a lost lease, as its work may still run.
///  - A candidate that stops while the outcome of one of its writes is unknown releases the lease
///    too.
class Election {
 public:
  /// `config` must be valid.
  explicit Election(Config config);

  /// Makes one step. `now.steady` must not run backwards.
  Actions Step(Input input, Instant now);

  /// The time of the next Tick that is needed; TimePoint::max() if only other inputs change
  /// anything.
  base::TimePoint wake() const;

  /// Whether this candidate is the leader at `now` by its own clock. While the step for an answer
  /// is late, this may be false and then true again.
  bool Leads(base::TimePoint now) const;

  /// Whether this candidate leads, or led until the last step, and has not been told to finish.
  bool holds() const { return phase_ == Phase::kLeading; }

  /// The times when the last successful write was sent, and when Leads ends if no other write
  /// succeeds. Valid while holds().
  base::TimePoint renewed_at() const { return renewed_at_; }
  base::TimePoint leads_until() const { return LeadsUntil(); }

  /// The holder of the lease when it was last seen; empty if it is unknown or the lease is
  /// released.
  const std::string& leader() const { return reported_leader_; }

 private:
  enum class Phase : std::uint8_t { kStandby, kLeading, kReleasing, kDone };
  enum class Request : std::uint8_t { kRead, kClaim, kRelease };
  struct Pending {
    std::uint64_t op = 0;
    Request request = Request::kRead;
    base::TimePoint sent_at{};
  };

  bool IsRenewal(const Input& input) const;
  void On(Tick tick);
  void On(Reply&& reply);
  void On(Seen&& seen);
  void On(Stop stop);
  void On(WorkEnded ended);

  void Proceed();
  void Attempt();
  void OnRead(apimachinery::Result<Lease>&& lease);
  void OnClaimed(apimachinery::Result<Lease>&& lease, base::TimePoint sent_at);
  void OnReleased(const apimachinery::Result<Lease>& lease);
  void Decide();
  void Claim();
  void Won(base::TimePoint sent_at);
  void Release();
  void EnterRelease();
  void Lose(std::string why);
  void Finish();

  void Observe(Lease&& lease);
  bool HeldByMe() const;
  bool HeldByOther() const;
  std::optional<base::TimePoint> Expiry() const;
  base::TimePoint LeadsUntil() const;
  void RetryLater();
  void Send(Request request, Action::Kind kind, Lease lease = {});
  Action& Do(Action::Kind kind);

  Config config_;
  std::mt19937_64 random_;
  Phase phase_ = Phase::kStandby;
  bool stopping_ = false;
  bool work_ended_ = false;
  /// A write with this candidate as the holder may have been stored although no reply said so.
  bool uncertain_ = false;
  /// `observed_` is what is stored, as far as is known, so that a write needs no read before it.
  bool fresh_ = false;
  bool read_in_attempt_ = false;
  /// Since the open claim was sent, the watch has last seen a released lease.
  bool released_again_ = false;
  int release_conflicts_ = 0;
  std::optional<Lease> observed_{};
  base::TimePoint observed_at_{};
  std::string reported_leader_{};
  std::optional<Pending> pending_{};
  /// The error of the last request that was answered or given up.
  std::string last_error_{};
  std::uint64_t last_op_ = 0;
  base::TimePoint next_attempt_{};
  base::TimePoint renewed_at_{};
  /// The time of the first attempt of the renewal or release that is being tried.
  std::optional<base::TimePoint> attempts_since_{};
  Instant now_{};
  Actions actions_{};
};

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_ELECTION_H_
