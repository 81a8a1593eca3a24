#include "kubexx/reloader/policy/policy_enforcer.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer_host.h"
#include "kubexx/reloader/policy/sighting.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;

/// The interval for conditions that no event reports, such as policies that can be read again.
constexpr base::Duration kAskAgain = std::chrono::seconds(30);
/// Workloads that wait for others are woken when those have ended, one for each place, and those
/// that somebody has paused when their pause ends. Thousands may wait, for days, and each of them
/// that asks is planned anew, so they ask rarely by themselves.
constexpr base::Duration kAskAgainOfWoken = std::chrono::minutes(10);
/// A timer that ends too early would find the window still closed.
constexpr base::Duration kMargin = std::chrono::milliseconds(1);
/// The wall clock may be set, so a window that opens in days is checked from time to time.
constexpr base::Duration kMaxWaitForWindow = std::chrono::hours(1);

/// With a health gate the two reasons alternate while one rollout after the other replaces its pods
/// and soaks.
HoldReason Told(HoldReason reason) {
  return reason == HoldReason::kUnhealthy ? HoldReason::kLimit : reason;
}

/// Whether `workload` waits for something else than it did `before`.
bool IsNews(const reloadpolicy::Arbiter& arbiter, const ObjectRef& workload,
            const std::optional<reloadpolicy::Hold>& before) {
  const auto now = arbiter.pending().find(workload);
  return now != arbiter.pending().end() &&
         (!before || Told(before->reason) != Told(now->second.hold.reason) ||
          before->policy != now->second.hold.policy);
}

/// Whether something wakes a workload that this holds up once it may go on: the end of another
/// rollout, or the event of the object that holds it up. The source that a policy pauses is looked
/// at before the arbiter knows that the workload waits, so the policy may change in between.
bool IsWoken(const reloadpolicy::Hold& hold) {
  switch (hold.reason) {
    case HoldReason::kInvalidAnnotation:
    case HoldReason::kPaused:
    case HoldReason::kWaveFailed:
      return true;
    case HoldReason::kSourcePaused:
      return !hold.policy;
    default:
      return reloadpolicy::IsForOthers(hold.reason);
  }
}

}  // namespace

PolicyEnforcer::PolicyEnforcer(Options options)
    : options_(std::move(options)), arbiter_(options_.flags) {}

PolicyEnforcer::~PolicyEnforcer() = default;

base::Subscription PolicyEnforcer::Attach(GateHost host) {
  {
    const base::MutexLock lock(mu_);
    synced_ = false;
    looked_since_ = options_.clock.Wall();
    if (options_.wait_for_policies) {
      arbiter_.SetUnread("", true, options_.clock.Wall());
    }
  }
  {
    const base::MutexLock lock(host_mu_);
    host_ = std::make_shared<const GateHost>(std::move(host));
  }
  return base::Subscription([this] {
    {
      const base::MutexLock lock(host_mu_);
      host_.reset();
      while (host_users_ > 0) {
        host_idle_.wait(host_mu_);
      }
    }
    const base::MutexLock lock(mu_);
    arbiter_.KeepNoPlaces();
  });
}

bool PolicyEnforcer::attached() const {
  const base::MutexLock lock(host_mu_);
  return host_ != nullptr;
}

bool PolicyEnforcer::WaitForSync(const std::stop_token& stop) {
  return !options_.wait_for_policies || options_.wait_for_policies(stop);
}

void PolicyEnforcer::Wake(const WorkloadId& workload, base::Duration after) {
  const HostUse host(*this);
  if (host.get() != nullptr) {
    host.get()->wake(workload, std::min(after, kMaxWaitForWindow));
  }
}

void PolicyEnforcer::Update(
    base::FunctionRef<void(reloadpolicy::Arbiter&, base::WallTime)> change) {
  const base::WallTime now = options_.clock.Wall();
  std::vector<ObjectRef> wakes;
  std::vector<std::pair<ObjectRef, base::Duration>> looks;
  {
    const base::MutexLock lock(mu_);
    change(arbiter_, now);
    arbiter_.Sweep(now);
    wakes = arbiter_.TakeWakes(now);
    looks = arbiter_.TakeLooks(now);
  }
  for (const auto& [ref, after] : looks) {
    if (const auto id = IdOf(ref)) {
      Wake(*id, after > base::Duration(0) ? after + kMargin : after);
    }
  }
  for (const ObjectRef& ref : wakes) {
    if (const auto id = IdOf(ref)) {
      Wake(*id, base::Duration(0));
    }
  }
}

void PolicyEnforcer::OnSynced() {
  std::set<std::string> names;
  {
    const base::MutexLock lock(mu_);
    synced_ = true;
    looked_since_ = options_.clock.Wall();
    for (const ObjectRef& ref : arbiter_.Followed()) {
      names.insert(ref.key.namespace_);
    }
  }
  LookAtUnread(std::move(names));
  Update([](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    arbiter.SetUnread("", false, now);
  });
  LookAtUnseen();
}

void PolicyEnforcer::LookAtUnseen() {
  const HostUse host(*this);
  if (host.get() == nullptr) {
    return;
  }
  std::vector<ObjectRef> unseen;
  {
    const base::MutexLock lock(mu_);
    if (!synced_) {
      return;  // OnSynced follows
    }
    unseen = arbiter_.Unseen();
  }
  for (const ObjectRef& ref : unseen) {
    const auto id = IdOf(ref);
    const auto workload = id ? host.get()->caches.GetWorkload(*id) : std::nullopt;
    if (!workload && id && !host.get()->caches.Knows(id->kind, id->key.namespace_)) {
      continue;  // its kind is late, so a rollout that has failed before counts as failed
    }
    Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
      if (workload) {
        arbiter.Observe(ref, SightingOf(*workload), now);
      } else {
        arbiter.Forget(ref, now);  // it was deleted while nobody watched
      }
    });
  }
}

AnnotationEdits PolicyEnforcer::Marks(const Workload& workload) {
  LookAtUnread({workload.id.key.namespace_});
  LookAtFailedData(workload);
  reloadpolicy::Mark mark;
  bool looks_again = false;
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    arbiter.Sweep(now);
    mark = arbiter.TakeMark(RefOf(workload.id), workload.uid, workload.annotations);
    looks_again = arbiter.unread().contains(workload.id.key.namespace_) &&
                  arbiter.IsActive(RefOf(workload.id));
  });
  if (looks_again) {
    Wake(workload.id, kAskAgain);  // there is no notification when the arbiter knows all workloads
  }
  if (mark.failure) {
    Notify(workload, {.warning = true,
                      .reason = kRolloutFailed,
                      .message = *mark.failure,
                      .is_in_place = mark.is_in_place});
  }
  ConsiderFailed(workload);
  AnnotationEdits edits;
  if (mark.record) {
    edits[std::string(reloadpolicy::kRolloutStateAnnotation)] =
        reloadpolicy::RecordFor(*mark.record, workload.uid);
  }
  if (mark.data) {
    edits[std::string(reloadpolicy::kRolledDataAnnotation)] = *mark.data;
  }
  return edits;
}

void PolicyEnforcer::Notify(const Workload& workload, PolicyNotice notice) const {
  if (options_.notify) {
    notice.workload = workload.id;
    notice.uid = workload.uid;
    options_.notify(notice);
  }
}

bool PolicyEnforcer::Admit(const Workload& workload, std::vector<Change>& changes,
                           AnnotationEdits& annotations) {
  return Answer(false, workload, changes, annotations);
}

bool PolicyEnforcer::AdmitNewer(const Workload& workload, std::vector<Change>& changes,
                                AnnotationEdits& annotations) {
  return Answer(true, workload, changes, annotations);
}

bool PolicyEnforcer::Answer(bool goes_on, const Workload& workload, std::vector<Change>& changes,
                            AnnotationEdits& annotations) {
  HeldSources paused = TakePaused(changes);
  reloadpolicy::Request request{.workload = RefOf(workload.id),
                                .annotations = workload.annotations,
                                .uid = workload.uid,
                                .phase = workload.phase,
                                .goes_on = goes_on};
  std::optional<reloadpolicy::Hold> hold = changes.empty() ? paused.hold : std::nullopt;
  if (auto why = options_.unread ? options_.unread(workload.id.key.namespace_) : std::nullopt) {
    hold = {.reason = HoldReason::kPoliciesUnread, .message = *std::move(why)};
  }
  reloadpolicy::Decision decision;
  bool is_news = false;
  // What it waits for may have ended just before it did: then nothing would wake it.
  bool asks_again = false;
  do {
    if (!hold) {
      request.before = Before(workload, changes);
      RenewFailedData(workload.id.key.namespace_);
      request.earlier_wave.reset();
      AddWaves(workload, changes, request);
    }
    Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
      const auto found = arbiter.pending().find(request.workload);
      const auto before =
          found == arbiter.pending().end() ? std::nullopt : std::optional(found->second.hold);
      if (hold) {
        decision.hold = hold;
        arbiter.Wait(request, *hold, now);
      } else {
        decision = arbiter.Begin(request, now);
      }
      is_news = is_news || IsNews(arbiter, request.workload, before);
      asks_again = !asks_again && decision.hold && decision.hold->waits_for &&
                   !arbiter.IsHeldUp(*decision.hold);
    });
  } while (asks_again);
  ReportSettings(workload);
  if (decision.hold) {
    std::ranges::move(paused.changes, std::back_inserter(changes));
    Hold(workload, *decision.hold, is_news);
    return false;
  }
  if (decision.tracked) {
    annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] =
        apimachinery::Time::From(decision.started).ToString();
  }
  if (decision.record) {
    annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
        reloadpolicy::RecordFor(*decision.record, workload.uid);
  }
  const std::string data(reloadpolicy::kRolledDataAnnotation);
  if (decision.data) {
    annotations[data] = *decision.data;
  } else if (workload.annotations.contains(data)) {
    annotations[data] = std::nullopt;  // of a rollout in a wave; this one is of none
  }
  return true;
}

void PolicyEnforcer::Hold(const Workload& workload, const reloadpolicy::Hold& hold, bool is_news) {
  // A window that never opens is opened only by another setting, and that wakes the workload.
  base::Duration after = hold.reason == HoldReason::kOutsideWindow ? kMaxWaitForWindow
                         : IsWoken(hold)                           ? kAskAgainOfWoken
                                                                   : kAskAgain;
  if (hold.until) {
    after =
        std::max<base::Duration>(*hold.until - options_.clock.Wall(), base::Duration(0)) + kMargin;
  }
  Wake(workload.id, after);
  if (is_news) {
    const bool is_unread = hold.reason == HoldReason::kPoliciesUnread;
    Notify(workload, {.warning = is_unread || hold.reason == HoldReason::kStopped ||
                                 hold.reason == HoldReason::kWaveFailed ||
                                 hold.reason == HoldReason::kInvalidAnnotation,
                      .is_one_of_many = is_unread,
                      .reason = "ReloadPending",
                      .message = std::string(ToString(hold.reason)) + ": " + hold.message});
  }
}

void PolicyEnforcer::ReportSettings(const Workload& workload) {
  std::vector<std::string> problems;
  std::vector<std::string> brakes;
  std::vector<std::string> refused;
  {
    const base::MutexLock lock(mu_);
    reloadpolicy::Effective effective =
        arbiter_.policies().Resolve(RefOf(workload.id), workload.annotations);
    problems = std::move(effective.problems);
    brakes = std::move(effective.brakes);
    refused = std::move(effective.refused);
  }
  for (std::string& problem : problems) {
    problem += "; it has no effect";
  }
  for (const std::string& brake : brakes) {
    problems.push_back(brake + "; until then the workload is not rolled");
  }
  std::vector<std::pair<const char*, std::string>> notices;
  for (std::string& problem : problems) {
    notices.emplace_back("InvalidAnnotation", std::move(problem));
  }
  for (std::string& text : refused) {
    notices.emplace_back("PolicyEnforced", std::move(text));
  }
  {
    const base::MutexLock lock(mu_);
    const auto known = reported_.find(workload.id);
    std::set<std::size_t> present;
    std::erase_if(notices, [&](const auto& notice) KX_REQUIRES(mu_) {
      const std::size_t hash = std::hash<std::string>()(notice.second);
      present.insert(hash);
      return known != reported_.end() && known->second.contains(hash);
    });
    if (!present.empty()) {
      reported_.insert_or_assign(workload.id, std::move(present));
    } else if (known != reported_.end()) {
      reported_.erase(known);
    }
  }
  for (auto& [reason, text] : notices) {
    Notify(workload, {.warning = true, .reason = reason, .message = std::move(text)});
  }
}

void PolicyEnforcer::OnWritten(const WorkloadId& workload, WriteEnd end, std::uint64_t version) {
  bool is_told = false;
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    switch (end) {
      case WriteEnd::kNotRolled:
        return arbiter.Cancel(RefOf(workload));
      case WriteEnd::kOvertaken:
        return arbiter.CancelOvertaken(RefOf(workload));
      case WriteEnd::kUncertain:
        return arbiter.Doubt(RefOf(workload), now);
      case WriteEnd::kKept:
        return arbiter.CancelKept(RefOf(workload));
      case WriteEnd::kUnrecorded:
        return arbiter.LeaveUnrecorded(RefOf(workload));
      case WriteEnd::kRolled:
        is_told = arbiter.Written(RefOf(workload), now, version);
        return;
    }
  });
  if (!is_told) {
    return;
  }
  // Events have told of its present state before this answer, and no earlier one follows.
  const HostUse host(*this);
  const auto told = host.get() == nullptr ? std::nullopt : host.get()->caches.GetWorkload(workload);
  if (told) {
    Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
      if (arbiter.IsUntold(RefOf(workload))) {  // else a later event has just come
        arbiter.Observe(RefOf(workload), SightingOf(*told), now);
      }
    });
  }
}

void PolicyEnforcer::OnRefused(const WorkloadId& workload, const std::string& why) {
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    arbiter.NoteRefused(RefOf(workload), why, now);
  });
}

void PolicyEnforcer::OnNothing(const WorkloadId& workload) {
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime) { arbiter.Done(RefOf(workload)); });
}

void PolicyEnforcer::OnUpToDate(const Workload& workload) {
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    arbiter.Settle(RefOf(workload.id), SightingOf(workload), now);
    arbiter.Done(RefOf(workload.id));
  });
  ConsiderSettled(workload);
}

void PolicyEnforcer::OnWorkload(const WorkloadId& id, const Workload* workload) {
  bool is_first_look = attached();
  {
    const base::MutexLock lock(mu_);
    is_first_look = is_first_look && !synced_;
  }
  LookAtUnread({id.key.namespace_});
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    if (workload == nullptr) {
      arbiter.Forget(RefOf(id), now);
    } else {
      reloadpolicy::Sighting seen = SightingOf(*workload);
      seen.is_first_look = is_first_look;
      arbiter.Observe(RefOf(id), seen, now);
    }
  });
  if (workload == nullptr) {
    const base::MutexLock lock(mu_);
    reported_.erase(id);
  }
}

std::optional<base::Duration> PolicyEnforcer::SettleWindow(const WorkloadId& id) {
  const HostUse host(*this);
  const auto workload = host.get() == nullptr ? std::nullopt : host.get()->caches.GetWorkload(id);
  if (!workload) {
    return std::nullopt;
  }
  const base::MutexLock lock(mu_);
  const auto setting = arbiter_.policies().Resolve(RefOf(id), workload->annotations).settle_window;
  return setting ? std::optional(setting->value) : std::nullopt;
}

}  // namespace kubexx::reloader
