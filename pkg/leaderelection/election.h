/// @file
/// The decisions of one candidate in a leader election, without threads, clocks or I/O.
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

/// The time of a step: steady for what is decided, wall for what is written.
struct Instant {
  base::TimePoint steady{};
  base::WallTime wall{};
};

/// What a step is told. Time has passed:
struct Tick {};
/// The request `op` has ended, with the lease as stored.
struct Reply {
  std::uint64_t op = 0;
  apimachinery::Result<Lease> lease{};
};
/// A watch has seen the lease.
struct Seen {
  Lease lease{};
};
/// The candidate is to stop.
struct Stop {};
/// The work that kStartWork began has ended.
struct WorkEnded {};
/// What has happened.
using Input = std::variant<Tick, Reply, Seen, Stop, WorkEnded>;

/// What the caller of a step has to do, in order.
struct Action {
  enum class Kind : std::uint8_t {
    kGet,        ///< read the lease, then Reply with `op`
    kCreate,     ///< create `lease`, then Reply
    kUpdate,     ///< replace the lease by `lease`, at its resource version, then Reply
    kCancel,     ///< nobody waits for `op` any more: break it off, no Reply is needed; `text` says
                 ///< what was wrong with it, if anything was
    kStartWork,  ///< this candidate leads from now on
    kStopWork,   ///< the work has to end; the lease is kept until WorkEnded
    kNewLeader,  ///< `text` is the leader's identity
    kSlowPath,   ///< to be counted: a renewal needed more than one request
    kLost,       ///< the lease is lost, `text` says why: the work has to end at once
    kFinish,     ///< the candidate is out; no step does anything any more
  };
  Kind kind = Kind::kGet;
  std::uint64_t op = 0;
  Lease lease{};
  std::string text{};
};
/// What is to be done, in this order.
using Actions = std::vector<Action>;

/// One candidate, from its start until it has stopped or lost the lease. A pure state machine: the
/// same inputs at the same times give the same actions. At most one request is open at a time; it
/// is broken off after Config::RequestTimeout. Not thread-safe.
///
/// Semantics are client-go's leaderelection with LeaseLock: a lease counts as expired when its spec
/// has not changed for its duration by the local clock (times in it are never compared); the leader
/// renews by one PUT at the version it wrote last and reads only when that fails. Differences, each
/// for safety or a faster hand-over:
///  - the leader's time runs from when a write was sent, not from when its reply came, and ends at
///    Config::LeadLimit at the latest whatever the settings;
///  - a leader that reads another's name in the lease stops at once, not after renew_deadline;
///  - a lease seen to be released is taken at once, an expired one at its moment, not at the next
///    poll; polls go on beside;
///  - while the work ends after Stop the lease is renewed, and released only afterwards; a lost
///    lease is never released, as the work may still run;
///  - a candidate that stops while a write of its own has an unknown outcome releases too.
class Election {
 public:
  /// `config` must be valid.
  explicit Election(Config config);

  /// Makes one step. `now.steady` must not run backwards.
  Actions Step(Input input, Instant now);

  /// When the next Tick is needed; TimePoint::max() when only another input changes anything.
  base::TimePoint wake() const;

  /// Whether this candidate is the leader at `now` by its own clock.
  bool Leads(base::TimePoint now) const;

  /// Whether this candidate leads, or led until the last step, and has not been told to finish.
  bool holds() const { return phase_ == Phase::kLeading; }

  /// When the last successful write was sent, and when Leads ends if no other succeeds; meaningful
  /// while holds().
  base::TimePoint renewed_at() const { return renewed_at_; }
  base::TimePoint leads_until() const { return LeadsUntil(); }

  /// The holder in the lease as last seen; empty when unknown or released.
  const std::string& leader() const { return reported_leader_; }

 private:
  enum class Phase : std::uint8_t { kStandby, kLeading, kReleasing, kDone };
  enum class Request : std::uint8_t { kRead, kClaim, kRelease };
  struct Pending {
    std::uint64_t op = 0;
    Request request = Request::kRead;
    base::TimePoint sent_at{};
  };

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
  /// `observed_` is what is stored as far as known: a write needs no read before it.
  bool fresh_ = false;
  bool read_in_attempt_ = false;
  /// What the watch has seen last since the claim that is open was sent is a released lease.
  bool released_again_ = false;
  int release_conflicts_ = 0;
  std::optional<Lease> observed_{};
  base::TimePoint observed_at_{};
  std::string reported_leader_{};
  std::optional<Pending> pending_{};
  /// Of the last request that was answered or given up.
  std::string last_error_{};
  std::uint64_t last_op_ = 0;
  base::TimePoint next_attempt_{};
  base::TimePoint renewed_at_{};
  /// Of the renewal or release that is being tried.
  std::optional<base::TimePoint> attempts_since_{};
  Instant now_{};
  Actions actions_{};
};

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_ELECTION_H_
