#include "kubexx/reloader/ha/membership.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/permissions/denial.h"

namespace kubexx::reloader {

using apimachinery::Result;

namespace {

// Roles that are being replaced refuse requests for a shorter time than this.
constexpr base::Duration kRefusedForGood = std::chrono::seconds(10);
/// What a look takes at most, in renewals: the next sign of life waits for it, and the others count
/// some of these as silence.
constexpr int kLookPeriods = 3;
/// Of the ten seconds that an operator has to end.
constexpr base::Duration kTimeToLeave = std::chrono::seconds(2);

std::string Division(int shards) {
  return shards == 1   ? "works on all namespaces together"
         : shards == 0 ? "divides the namespaces into shards"
                       : "divides the namespaces into " + std::to_string(shards) + " shards";
}

}  // namespace

class Membership::Impl {
 public:
  Impl(Options options, MemberStore& store)
      : options_(std::move(options)),
        store_(store),
        waits_(options_.registry == nullptr
                   ? metrics::Gauge()
                   : options_.registry->Gauge(
                         "kubexx_reloader_replica_waits",
                         "1 while this replica takes no shard because a replica with another "
                         "number of shards is at work.")),
        view_(options_.expiry),
        leader_view_(options_.expiry) {
    waits_.Set(0);
  }
  ~Impl() { Stop(); }

  void Start() {
    renewer_ = std::jthread([this](const std::stop_token& stop) { Renew(stop); });
    if (HasSigns()) {
      watcher_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
    }
  }

  void Stop() {
    if (!renewer_.joinable()) {
      return;
    }
    renewer_.request_stop();
    watcher_ = {};  // this joins the thread
    renewer_.join();
    // The Leases of the shards, which are given back after this, matter more than the sign of life.
    Leave({}, kTimeToLeave);
  }

  std::optional<std::stop_token> AwaitAssigned(int shard, const std::stop_token& stop) {
    const base::MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      if (const auto found = assigned_.find(shard); found != assigned_.end()) {
        return found->second.get_token();
      }
      (void)options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
    return std::nullopt;
  }

  std::optional<std::string> Problem() const {
    const base::TimePoint now = options_.clock.Now();
    const base::MutexLock lock(mu_);
    if (has_looked_ || !refused_ || now - refused_->since < kRefusedForGood) {
      return std::nullopt;
    }
    return "may not list the Leases of the replicas, so this replica takes no shard: " +
           refused_->message;
  }

  std::optional<std::string> Waiting() const {
    const base::MutexLock lock(mu_);
    return waiting_ ? std::optional("this replica " + *waiting_) : std::nullopt;
  }

 private:
  struct Refusal {
    base::TimePoint since{};
    std::string message{};
  };

  bool HasSigns() const { return options_.shards > 1; }

  void Renew(const std::stop_token& stop) {
    base::TimePoint renewal = options_.clock.Now();
    while (!stop.stop_requested()) {
      const bool is_due = options_.clock.Now() >= renewal;
      if (is_due) {
        renewal = options_.clock.Now() + options_.renew_period;
        BeginAnewAfterSilence();
      }
      if (!Act(is_due, stop)) {
        return;
      }
      const base::MutexLock lock(mu_);
      while (!woken_ && !stop.stop_requested() && options_.clock.Now() < renewal) {
        (void)options_.clock.WaitUntil(mu_, wake_, stop, renewal);
      }
      woken_ = false;
    }
  }

  /// Shows that this replica lives, and looks after the others. Returns false when nothing will
  /// change any more.
  bool Act(bool is_due, const std::stop_token& stop) {
    if (!is_member_) {
      Look(stop);  // before the other replicas count on this one
    }
    if (!has_place_) {
      return true;
    }
    if (!HasSigns()) {
      Assign({options_.identity});  // this does not change, because the Lease decides
      return false;
    }
    if (is_due || !is_member_) {
      // The other replicas may see the sign of life as soon as it was sent, whenever the answer
      // comes.
      const base::TimePoint sent = options_.clock.Now();
      if (!std::exchange(is_member_, true)) {
        renewed_at_ = sent;
      }
      const auto renewed = store_.Renew(stop, TimeOfSilence());
      BeginAnewAfterSilence();  // the request may have been late, or only its answer
      if (renewed && is_member_) {
        renewed_at_ = sent;
      }
      Note(renewed, "Cannot renew the Lease that shows the other replicas that this one lives",
           renewal_error_, stop);
    }
    Look(stop);
    return true;
  }

  /// How long a request may take until the others may regard this replica as dead; zero: as long as
  /// it likes, since they do not count on it.
  base::Duration TimeOfSilence() const {
    return is_member_ ? std::max<base::Duration>(
                            renewed_at_ + options_.expiry - options_.clock.Now(), base::Duration(1))
                      : base::Duration::zero();
  }

  /// How long a request of the look that is under way may take; zero as above.
  base::Duration TimeOfLook() const {
    return is_member_ ? std::clamp<base::Duration>(look_end_ - options_.clock.Now(),
                                                   base::Duration(1), TimeOfSilence())
                      : base::Duration::zero();
  }

  /// The other replicas regard a replica as dead that has given no sign of life for so long, and
  /// replicas with another number of shards may work by now.
  void BeginAnewAfterSilence() {
    if (!is_member_ || options_.clock.Now() - renewed_at_ < options_.expiry) {
      return;
    }
    logging::Warning(
        "This replica could not renew its Lease for so long that others may have taken its shards; "
        "it gives up these shards and joins the replicas again",
        {{"replica", options_.identity}});
    is_member_ = has_place_ = false;
    has_waited_ = true;
    waited_until_.reset();
    Assign({});
  }

  /// Removes this replica's sign of life.
  void Leave(const std::stop_token& stop, base::Duration limit = base::Duration::zero()) {
    if (!std::exchange(is_member_, false)) {
      return;
    }
    if (const auto removed = store_.Remove(options_.identity, stop, limit); !removed) {
      logging::Warning(
          "Cannot delete the Lease of this replica; the other replicas notice its end later",
          {{"error", removed.error()}});
    }
  }

  /// Finds the other replicas, and decides whether this one has to wait and which shards it should
  /// take.
  void Look(const std::stop_token& stop) {
    look_end_ = options_.clock.Now() + kLookPeriods * options_.renew_period;
    auto members = store_.List(stop, TimeOfLook());
    auto leader = members && HasSigns() ? store_.Leader(stop, TimeOfLook())
                                        : Result<std::optional<Member>>(std::nullopt);
    BeginAnewAfterSilence();  // the requests may have taken too long
    const base::TimePoint now = options_.clock.Now();
    if (!HasSigns() && !members && IsMissingRight(members.error())) {
      has_place_ = true;  // the replicas that have shards give them up for the Lease
      SetWaiting(std::nullopt);
      return;
    }
    const auto seen = !members  ? Result<void>(apimachinery::Fail(members.error()))
                      : !leader ? Result<void>(apimachinery::Fail(leader.error()))
                                : Result<void>();
    Note(seen,
         "Cannot list the Leases of the replicas; the shards stay where they are, and without a "
         "first list this replica takes none",
         look_error_, stop);
    NoteRefusal(seen, now);
    if (!seen) {
      return;  // the last state stays, because the Leases decide who writes
    }
    if (!is_member_) {  // the Lease that this replica left at its last end does not count
      const auto left =
          std::erase_if(*members, [&](const Member& of) { return of.name == options_.identity; });
      if (left > 0 && HasSigns() && !store_.Remove(options_.identity, stop, TimeOfLook())) {
        return;  // it would make this replica older than it is
      }
    }
    view_.Saw(*members, now);
    leader_view_.Saw(*leader ? std::vector<Member>{**leader} : std::vector<Member>(), now);
    FindPlace(now, stop);
    if (has_place_ && is_member_) {
      Assign(view_.Live(now, options_.shards));
    }
    if (HasSigns()) {
      for (const std::string& name : view_.Abandoned(now)) {
        (void)store_.Remove(name, stop, TimeOfLook());  // the next look tries again
      }
    }
  }

  void NoteRefusal(const Result<void>& seen, base::TimePoint now) {
    const base::MutexLock lock(mu_);
    if (seen || has_looked_) {
      has_looked_ = true;
    } else if (!IsMissingRight(seen.error())) {
      refused_.reset();
    } else if (!refused_) {
      refused_ = {now, seen.error().message};
    }
  }

  /// Decides whether this replica has to wait for others, and makes it do so.
  void FindPlace(base::TimePoint now, const std::stop_token& stop) {
    const auto leader = leader_view_.Elder(now, options_.shards);
    const auto elder = leader ? leader : view_.Elder(now, options_.shards);
    if (elder) {
      has_place_ = false;
      has_waited_ = true;
      waited_until_.reset();
      SetWaiting(Division(options_.shards) + ", and waits until the replica " + elder->name +
                 ", which " + Division(elder->shards) + ", is gone");
      Assign({});
      Leave(stop);
    } else if (!has_place_) {
      // The wait counts from now on, however long the others could not be seen before.
      waited_until_ = waited_until_.value_or(has_waited_ ? now + options_.hand_over : now);
      if (*waited_until_ <= now) {
        has_place_ = true;
        SetWaiting(std::nullopt);
      }
    }
  }

  void SetWaiting(std::optional<std::string> what) {
    {
      const base::MutexLock lock(mu_);
      if (waiting_ == what) {
        return;
      }
      waiting_ = what;
    }
    waits_.Set(what ? 1 : 0);
    if (what) {
      logging::Warning("This replica waits for one with another number of shards",
                       {{"reason", "this replica " + *what}});
    } else {
      logging::Info("No replica with another number of shards is left; this one goes on");
    }
  }

  /// Logs an error that differs from the last one. There is a renewal every two seconds, so one
  /// line is enough.
  static void Note(const Result<void>& result, const char* what, std::string& last,
                   const std::stop_token& stop) {
    std::string error = result ? std::string() : result.error().ToString();
    if (!stop.stop_requested() && error != last) {
      if (!result) {
        logging::Warning(what, {{"error", error}});
      }
      last = std::move(error);
    }
  }

  void Assign(const std::vector<std::string>& members) {
    std::vector<std::stop_source> moved;
    bool changed = false;
    {
      const base::MutexLock lock(mu_);
      for (int shard = 0; shard < options_.shards; ++shard) {
        const bool ours = TakerOf(shard, members) == options_.identity;
        if (ours == assigned_.contains(shard)) {
          continue;
        }
        changed = true;
        if (ours) {
          assigned_.emplace(shard, std::stop_source());
        } else {
          moved.push_back(std::move(assigned_.extract(shard).mapped()));
        }
      }
      changed_.notify_all();
    }
    if (changed && HasSigns()) {
      logging::Info("Divided the shards among the replicas again", {{"replicas", members.size()}});
    }
    for (std::stop_source& source : moved) {
      source.request_stop();
    }
  }

  void Watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto watched = store_.Watch(
          [this] {
            const base::MutexLock lock(mu_);
            woken_ = true;
            wake_.notify_all();
          },
          stop);
      if (!watched && !stop.stop_requested()) {
        logging::Debug("The watch of the replicas' Leases has ended", {{"error", watched.error()}});
      }
      (void)options_.clock.SleepFor(options_.renew_period, stop);
    }
  }

  const Options options_;
  MemberStore& store_;
  const metrics::Gauge waits_;
  // Only the renewer uses these, and Stop after the renewer has ended.
  MemberView view_;
  MemberView leader_view_;     // the view of the single Lease's holder
  std::string renewal_error_;  // the last one that was logged
  std::string look_error_;     // the last one that was logged
  bool is_member_ = false;     // whether it has given a sign of life
  bool has_place_ = false;     // whether it has looked and need not wait for others
  bool has_waited_ = false;    // for others, whose writes may not have ended yet
  // The end of the wait after the last of them has gone.
  std::optional<base::TimePoint> waited_until_;
  base::TimePoint renewed_at_{};  // the time of the last sign of life
  base::TimePoint look_end_{};    // when the requests of the last look have to end
  mutable base::Mutex mu_;
  base::CondVar changed_;
  base::CondVar wake_;
  bool woken_ KX_GUARDED_BY(mu_) = false;
  bool has_looked_ KX_GUARDED_BY(mu_) = false;
  std::optional<Refusal> refused_ KX_GUARDED_BY(mu_);
  std::optional<std::string> waiting_ KX_GUARDED_BY(mu_);
  std::map<int, std::stop_source> assigned_ KX_GUARDED_BY(mu_);
  std::jthread renewer_;
  std::jthread watcher_;
};

Membership::Membership(Options options, MemberStore& store)
    : impl_(std::make_unique<Impl>(std::move(options), store)) {}
Membership::~Membership() { impl_->Stop(); }
void Membership::Start() { impl_->Start(); }
void Membership::Stop() { impl_->Stop(); }
std::optional<std::string> Membership::Problem() const { return impl_->Problem(); }
std::optional<std::string> Membership::Waiting() const { return impl_->Waiting(); }
std::optional<std::stop_token> Membership::AwaitAssigned(int shard,
                                                         const std::stop_token& stop) const {
  return impl_->AwaitAssigned(shard, stop);
}

}  // namespace kubexx::reloader
