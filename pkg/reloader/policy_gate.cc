#include "kubexx/reloader/policy_gate.h"

#include <algorithm>
#include <chrono>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/caches.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;
using reloadpolicy::Policy;

/// Those that wait for others are woken by them; this is for what no event tells, such as a rollout
/// that takes too long.
constexpr base::Duration kAskAgain = std::chrono::seconds(30);
/// A timer that ends early finds the window still closed.
constexpr base::Duration kMargin = std::chrono::milliseconds(1);
/// Bounds what a flood of bad annotations can occupy; after that some are reported again.
constexpr std::size_t kMaxReported = 1000;

ObjectRef RefOf(const WorkloadId& id) { return {std::string(KindName(id.kind)), id.key}; }

ObjectRef RefOf(const SourceId& id) { return {std::string(NamesOf(id.type).kind), id.key}; }

/// Whether what `workload` waits for is not what it waited for `before`.
bool IsNews(const reloadpolicy::Gate& gate, const ObjectRef& workload,
            const std::optional<reloadpolicy::Hold>& before) {
  const auto now = gate.pending().find(workload);
  return now != gate.pending().end() && (!before || before->reason != now->second.hold.reason ||
                                         before->policy != now->second.hold.policy);
}

/// The sources, without namespaces, whose lists of keys differ between two states of a policy.
/// Null: there is none.
std::set<SourceId> NewlyListed(const Policy* before, const Policy* now) {
  const bool moved = before != nullptr && now != nullptr &&
                     (before->namespaces != now->namespaces ||
                      before->excluded_namespaces != now->excluded_namespaces);
  std::set<SourceId> result;
  const auto compare = [&](const Policy* one, const Policy* other) {
    for (const reloadpolicy::SourceRule& rule :
         one == nullptr ? std::vector<reloadpolicy::SourceRule>() : one->sources) {
      const bool is_same =
          other != nullptr &&
          std::ranges::any_of(other->sources, [&](const reloadpolicy::SourceRule& each) {
            return each.kind == rule.kind && each.name == rule.name && each.keys == rule.keys;
          });
      if (!rule.keys.empty() && (moved || !is_same)) {
        result.insert({rule.kind == "Secret" ? SourceType::kSecret : SourceType::kConfigMap,
                       {"", rule.name}});
      }
    }
  };
  compare(before, now);
  compare(now, before);
  return result;
}

std::optional<WorkloadId> IdOf(const ObjectRef& ref) {
  const auto kind = ParseWorkloadKind(ref.kind);
  return kind ? std::optional(WorkloadId{*kind, ref.key}) : std::nullopt;
}

}  // namespace

class PolicyGate::HostUse {
 public:
  explicit HostUse(PolicyGate& gate) : gate_(gate) {
    const base::MutexLock lock(gate_.host_mu_);
    host_ = gate_.host_;
    gate_.host_users_ += host_ ? 1 : 0;
  }
  HostUse(const HostUse&) = delete;
  HostUse& operator=(const HostUse&) = delete;
  ~HostUse() {
    if (!host_) {
      return;
    }
    {
      const base::MutexLock lock(gate_.host_mu_);
      --gate_.host_users_;
    }
    gate_.host_idle_.notify_all();
  }
  /// Null when no operator is attached.
  const GateHost* get() const { return host_.get(); }

 private:
  PolicyGate& gate_;
  std::shared_ptr<const GateHost> host_;
};

PolicyGate::PolicyGate(Options options) : options_(std::move(options)), gate_(options_.flags) {}

PolicyGate::~PolicyGate() = default;

base::Subscription PolicyGate::Attach(GateHost host) {
  {
    const base::MutexLock lock(host_mu_);
    host_ = std::make_shared<const GateHost>(std::move(host));
  }
  return base::Subscription([this] {
    const base::MutexLock lock(host_mu_);
    host_.reset();
    while (host_users_ > 0) {
      host_idle_.wait(host_mu_);
    }
  });
}

bool PolicyGate::attached() const {
  const base::MutexLock lock(host_mu_);
  return host_ != nullptr;
}

bool PolicyGate::WaitForSync(const std::stop_token& stop) {
  return !options_.wait_for_policies || options_.wait_for_policies(stop);
}

void PolicyGate::Wake(const WorkloadId& workload, base::Duration after) {
  const HostUse host(*this);
  if (host.get() != nullptr) {
    host.get()->wake(workload, after);
  }
}

void PolicyGate::Update(base::FunctionRef<void(reloadpolicy::Gate&, base::WallTime)> change) {
  const base::WallTime now = options_.clock.Wall();
  std::vector<ObjectRef> wakes;
  {
    const base::MutexLock lock(mu_);
    change(gate_, now);
    wakes = gate_.TakeWakes(now);
  }
  for (const ObjectRef& ref : wakes) {
    if (const auto id = IdOf(ref)) {
      Wake(*id, base::Duration(0));
    }
  }
}

void PolicyGate::SetPolicy(reloadpolicy::Policy policy) {
  const reloadpolicy::PolicyId id = policy.id;
  std::set<SourceId> listed;
  Update([&](reloadpolicy::Gate& gate, base::WallTime) {
    listed = NewlyListed(gate.policies().Find(id), &policy);
    gate.SetPolicy(std::move(policy));
  });
  WakeUsers(id, listed);
}

void PolicyGate::RemovePolicy(const reloadpolicy::PolicyId& id) {
  std::set<SourceId> listed;
  Update([&](reloadpolicy::Gate& gate, base::WallTime) {
    listed = NewlyListed(gate.policies().Find(id), nullptr);
    gate.RemovePolicy(id);
  });
  WakeUsers(id, listed);
}

void PolicyGate::WakeUsers(const reloadpolicy::PolicyId& policy,
                           const std::set<SourceId>& sources) {
  const HostUse host(*this);
  if (host.get() == nullptr) {
    return;
  }
  for (const SourceId& source : sources) {
    const std::vector<std::string> spaces =
        policy.namespace_.empty() ? host.get()->caches.NamespacesWith(source.type, source.key.name)
                                  : std::vector{policy.namespace_};
    for (const std::string& space : spaces) {
      const Caches::Concerned users =
          host.get()->caches.WorkloadsOf({source.type, {space, source.key.name}});
      for (const auto* ids : {&users.by_name, &users.by_pattern}) {
        for (const WorkloadId& id : *ids) {
          host.get()->wake(id, base::Duration(0));
        }
      }
    }
  }
}

std::string PolicyGate::KeysOf(const SourceId& source) {
  const base::MutexLock lock(mu_);
  const auto keys = gate_.policies().SourceKeys(RefOf(source));
  return keys ? keys->value : std::string();
}

std::set<SourceId> PolicyGate::PausedByAnnotation(const std::vector<Change>& changes) {
  std::set<SourceId> paused;
  const HostUse host(*this);
  if (host.get() != nullptr) {
    for (const Change& change : changes) {
      for (const SourceId& cause : change.causes) {
        const auto source = host.get()->caches.GetSource(cause);
        if (source && source->paused) {
          paused.insert(cause);
        }
      }
    }
  }
  return paused;
}

PolicyGate::HeldSources PolicyGate::TakePaused(std::vector<Change>& changes) {
  HeldSources held;
  const std::set<SourceId> annotated = PausedByAnnotation(changes);
  const base::MutexLock lock(mu_);
  std::erase_if(changes, [&](const Change& change) KX_REQUIRES(mu_) {
    for (const SourceId& cause : change.causes) {
      if (annotated.contains(cause)) {
        held.hold = {.reason = HoldReason::kSourcePaused,
                     .message = RefOf(cause).ToString() + " is paused (annotation " +
                                std::string(kSourcePaused) + ")"};
        held.changes.push_back(change);
        return true;
      }
      if (const auto pause = gate_.policies().SourcePause(RefOf(cause))) {
        held.hold = {.reason = HoldReason::kSourcePaused,
                     .message = RefOf(cause).ToString() + " is paused (" + pause->origin + ")",
                     .policy = pause->policy};
        held.changes.push_back(change);
        return true;
      }
    }
    return false;
  });
  return held;
}

int PolicyGate::OrderOf(const Workload& workload) const {
  const base::MutexLock lock(mu_);
  return gate_.policies().Resolve(RefOf(workload.id), workload.annotations).Order();
}

std::vector<ObjectRef> PolicyGate::Before(const Workload& workload,
                                          const std::vector<Change>& changes) {
  const int order = OrderOf(workload);
  const HostUse host(*this);
  if (order <= 0 || host.get() == nullptr) {
    return {};
  }
  std::set<SourceId> causes;
  for (const Change& change : changes) {
    causes.insert(change.causes.begin(), change.causes.end());
  }
  for (const SourceId& cause : causes) {
    const Caches::Concerned concerned = host.get()->caches.WorkloadsOf(cause);
    for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
      for (const WorkloadId& id : *ids) {
        const auto other = id == workload.id ? std::nullopt : host.get()->caches.GetWorkload(id);
        if (!other || OrderOf(*other) >= order) {
          continue;
        }
        bool comes_first = false;
        {
          const base::MutexLock lock(mu_);
          comes_first = gate_.IsActive(RefOf(id));
        }
        if (comes_first || host.get()->needs_rollout(*other, cause)) {
          return {RefOf(id)};  // one is reason enough
        }
      }
    }
  }
  return {};
}

bool PolicyGate::Admit(const Workload& workload, std::vector<Change>& changes,
                       AnnotationEdits& annotations) {
  HeldSources paused = TakePaused(changes);
  reloadpolicy::Request request{RefOf(workload.id), workload.annotations};
  if (!changes.empty()) {
    request.before = Before(workload, changes);
  }
  reloadpolicy::Decision decision;
  bool is_news = false;
  Update([&](reloadpolicy::Gate& gate, base::WallTime now) {
    const auto found = gate.pending().find(request.workload);
    const auto before =
        found == gate.pending().end() ? std::nullopt : std::optional(found->second.hold);
    if (changes.empty()) {
      decision.hold = paused.hold;
      gate.Wait(request, *paused.hold, now);
    } else {
      decision = gate.Begin(request, now);
    }
    is_news = IsNews(gate, request.workload, before);
  });
  ReportAnnotations(workload);
  if (decision.hold) {
    std::ranges::move(paused.changes, std::back_inserter(changes));
    Hold(workload, *decision.hold, is_news);
    return false;
  }
  if (decision.tracked) {
    annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] =
        apimachinery::Time::From(options_.clock.Wall()).ToString();
  }
  return true;
}

void PolicyGate::Hold(const Workload& workload, const reloadpolicy::Hold& hold, bool is_news) {
  base::Duration after = kAskAgain;
  if (hold.until) {
    after =
        std::max<base::Duration>(*hold.until - options_.clock.Wall(), base::Duration(0)) + kMargin;
  }
  Wake(workload.id, after);
  if (is_news && options_.notify) {
    options_.notify({.workload = workload.id,
                     .uid = workload.uid,
                     .warning = hold.reason == HoldReason::kStopped,
                     .reason = "ReloadPending",
                     .message = std::string(ToString(hold.reason)) + ": " + hold.message});
  }
}

void PolicyGate::ReportAnnotations(const Workload& workload) {
  std::vector<std::string> problems;
  (void)reloadpolicy::SettingsFromAnnotations(workload.annotations, problems);
  for (const std::string& problem : problems) {
    {
      const base::MutexLock lock(mu_);
      if (reported_.size() >= kMaxReported) {
        reported_.clear();
      }
      if (!reported_.emplace(workload.id, problem).second) {
        continue;
      }
    }
    if (options_.notify) {
      options_.notify({.workload = workload.id,
                       .uid = workload.uid,
                       .warning = true,
                       .reason = "InvalidAnnotation",
                       .message = problem + "; it has no effect"});
    }
  }
}

void PolicyGate::OnWritten(const WorkloadId& workload, bool rolled) {
  if (!rolled) {
    Update([&](reloadpolicy::Gate& gate, base::WallTime) { gate.Cancel(RefOf(workload)); });
  }
}

void PolicyGate::OnNothing(const WorkloadId& workload) {
  Update([&](reloadpolicy::Gate& gate, base::WallTime) { gate.Done(RefOf(workload)); });
}

void PolicyGate::OnWorkload(const WorkloadId& id, const Workload* workload, bool initial) {
  Update([&](reloadpolicy::Gate& gate, base::WallTime now) {
    if (workload == nullptr) {
      gate.Forget(RefOf(id));
    } else {
      gate.Observe(RefOf(id), workload->annotations, workload->phase, initial, now);
    }
  });
}

std::optional<base::Duration> PolicyGate::SettleWindow(const WorkloadId& id) {
  const HostUse host(*this);
  const auto workload = host.get() == nullptr ? std::nullopt : host.get()->caches.GetWorkload(id);
  if (!workload) {
    return std::nullopt;
  }
  const base::MutexLock lock(mu_);
  const auto setting = gate_.policies().Resolve(RefOf(id), workload->annotations).settle_window;
  return setting ? std::optional(setting->value) : std::nullopt;
}

}  // namespace kubexx::reloader
