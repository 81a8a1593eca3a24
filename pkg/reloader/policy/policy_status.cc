#include "kubexx/reloader/policy/policy_status.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/utf8.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/policy/restore_text.h"
#include "kubexx/reloader/policy/status_cut.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;
using codec::JsonTree;

constexpr base::Duration kPauseAfterFailure = std::chrono::seconds(30);

constexpr char kNothingChanged[] =
    "the API server took the status and kept nothing of what is new in it; perhaps the CRDs are "
    "older than the operator: apply the CRDs of its version";

/// Rounds to seconds, as the API does, because the written time must equal the one that is read
/// back.
Time Seconds(base::WallTime time) {
  Time result = Time::From(time);
  result.nanos = 0;
  return result;
}

std::int32_t Count(std::size_t n) {
  return static_cast<std::int32_t>(std::min<std::size_t>(n, 1'000'000'000));
}

std::string ShownWorkload(const reloadpolicy::ObjectRef& workload, bool with_namespace) {
  return workload.kind + "/" + (with_namespace ? workload.key.ToString() : workload.key.name);
}

constexpr std::size_t kMaxMessageBytes = 4096;

/// Cuts the text as the API server would return it: half a character would be another text there,
/// and the status would be written again and again.
std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : "; ") + text;
    if (all.size() > kMaxMessageBytes) {
      break;
    }
  }
  return base::CutUtf8(all, kMaxMessageBytes);
}

std::string AcceptedText(const PolicyState& state) {
  return state.overruled.empty()
             ? "the whole policy is in force"
             : "all of the policy can be understood; of its settings these have no effect, since a "
               "policy that comes before it by name has them, too: " +
                   Joined(state.overruled);
}

std::string Summary(const PolicyState& state) {
  if (state.listed.empty()) {
    return "";
  }
  const PolicyState::Waiting& first = state.listed.front();
  std::string text = ShownWorkload(first.workload, state.id.namespace_.empty()) + ": " +
                     std::string(ToString(first.hold.reason));
  if (state.pending > 1) {
    text += " and " + std::to_string(state.pending - 1) + " more";
  }
  return text;
}

/// Sets conditions with the time of their last transition.
template <class Condition>
class Conditions {
 public:
  Conditions(const std::vector<Condition>& present, std::int64_t generation, base::WallTime now)
      : present_(present), generation_(generation), now_(now) {}

  void Set(const std::string& type, bool value, std::string reason, std::string message) {
    Condition condition;
    condition.type = type;
    condition.status = value ? "True" : "False";
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    condition.observed_generation = generation_;
    // Conditions that are not set are removed.
    if (const Condition* const before = controller::FindCondition(present_, type)) {
      result_.push_back(*before);
    }
    controller::SetCondition(result_, std::move(condition), Seconds(now_));
  }
  std::vector<Condition> Take() { return std::move(result_); }

 private:
  const std::vector<Condition>& present_;
  const std::int64_t generation_;
  const base::WallTime now_;
  std::vector<Condition> result_;
};

/// The inverse of ShownWorkload. `namespace_` is that of a policy, if it has one.
std::optional<reloadpolicy::ObjectRef> WorkloadNamed(const std::string& text,
                                                     const std::string& namespace_) {
  // The format is "Kind/name" or "Kind/namespace/name".
  const std::size_t first = text.find('/');
  const std::size_t last = text.rfind('/');
  if (first == std::string::npos) {
    return std::nullopt;
  }
  return reloadpolicy::ObjectRef{
      text.substr(0, first),
      {first == last ? namespace_ : text.substr(first + 1, last - first - 1),
       text.substr(last + 1)}};
}

template <class Written>
std::optional<base::WallTime> TimeIn(const Written& written) {
  const auto time = written.ToTime();
  return time ? reloadpolicy::RolloutTimeOf(*time) : std::nullopt;
}

/// Returns what the condition WaveFailed says when a wave has failed.
std::string WaveText(const PolicyState& state) {
  const PolicyState::FailedWave& first = state.failed_in_waves.front();
  return "the rollout of " + first.workload.ToString() +
         (state.failed_waves == 1 ? std::string()
                                  : " and of " + std::to_string(state.failed_waves - 1) + " more") +
         " for " + reloadpolicy::SourcesOf(first.data) +
         " has failed in a wave; no other begins until these data change, or until somebody lets "
         "them go on with retry";
}

constexpr char kRestored[] = "Restored";

/// The condition Restored among these; std::nullopt: it is not there.
template <class Condition>
std::optional<RestoreText> RestoreTextIn(const std::vector<Condition>& present) {
  const Condition* const found = controller::FindCondition(present, kRestored);
  if (found == nullptr) {
    return std::nullopt;
  }
  return RestoreText{.is_restored = found->status == "True",
                     .reason = found->reason,
                     .message = found->message,
                     .since = found->last_transition_time};
}

/// Since when the workload waits. The process that wrote the present status knows of a time before
/// this one.
template <class S>
Time WaitsSince(const std::string& workload, const Time& since, const S& present) {
  for (const auto& before : apimachinery::OrEmpty(present.pending_rollouts)) {
    if (before.workload == workload && before.since) {
      return std::min(before.since->ToTime().value_or(since), since);
    }
  }
  return since;
}

/// Returns the merge patch that leaves nothing of an earlier status. `status` has all lists; see
/// PolicyStatusFor.
template <class S>
std::string PatchFor(const S& status) {
  auto tree = JsonTree::Parse(codec::EncodeJson(status));
  JsonTree patch = JsonTree::Object();
  patch["status"] = tree ? *std::move(tree) : JsonTree::Object();
  return patch.ToJson();
}

}  // namespace

template <class S>
std::vector<reloadpolicy::Remembered> FailuresIn(const S& status, const std::string& namespace_) {
  std::vector<reloadpolicy::Remembered> failures;
  for (const auto& item : apimachinery::OrEmpty(status.failed_rollouts)) {
    const auto workload = WorkloadNamed(item.workload, namespace_);
    const auto rolled_at = TimeIn(item.rolled_at);
    if (workload && rolled_at) {
      failures.push_back({.workload = *workload, .uid = item.uid, .started = *rolled_at});
    }
  }
  return failures;
}

template std::vector<reloadpolicy::Remembered> FailuresIn(
    const reloadpolicy::v1alpha1::ReloadPolicyStatus& status, const std::string& namespace_);
template std::vector<reloadpolicy::Remembered> FailuresIn(
    const reloadpolicy::v1alpha1::ClusterReloadPolicyStatus& status, const std::string& namespace_);

template <class S>
std::vector<reloadpolicy::RememberedData> FailedDataIn(const S& status,
                                                       const std::string& namespace_) {
  std::vector<reloadpolicy::RememberedData> failures;
  for (const auto& item : apimachinery::OrEmpty(status.failed_waves)) {
    const auto workload = WorkloadNamed(item.workload, namespace_);
    const auto since = TimeIn(item.since);
    if (workload && since) {
      failures.push_back(
          {.workload = *workload, .uid = item.uid, .versions = item.data, .since = *since});
    }
  }
  return failures;
}

template std::vector<reloadpolicy::RememberedData> FailedDataIn(
    const reloadpolicy::v1alpha1::ReloadPolicyStatus& status, const std::string& namespace_);
template std::vector<reloadpolicy::RememberedData> FailedDataIn(
    const reloadpolicy::v1alpha1::ClusterReloadPolicyStatus& status, const std::string& namespace_);

template <class S>
S PolicyStatusFor(const PolicyState& state, const S& present, base::WallTime now) {
  S status;
  status.observed_generation = state.generation;
  status.active = Count(static_cast<std::size_t>(state.active));
  status.failed = Count(static_cast<std::size_t>(state.failed));
  status.pending = Count(state.pending);
  status.summary = Summary(state);
  // Empty lists are written, too, because the patch must leave nothing of an earlier status.
  auto& pending_rollouts = status.pending_rollouts.emplace();
  for (const PolicyState::Waiting& waiting : state.listed) {
    auto& item = pending_rollouts.emplace_back();
    item.workload = ShownWorkload(waiting.workload, state.id.namespace_.empty());
    item.reason = ToString(waiting.hold.reason);
    item.message = waiting.hold.message;
    item.since = WaitsSince(item.workload, Seconds(waiting.since), present);
    if (waiting.hold.until) {
      item.until = Seconds(*waiting.hold.until);
    }
  }
  std::vector<reloadpolicy::ObjectRef> failed_ones;
  auto& failed_rollouts = status.failed_rollouts.emplace();
  for (const PolicyState::Failed& failed : state.failures) {
    auto& item = failed_rollouts.emplace_back();
    item.workload = ShownWorkload(failed.workload, state.id.namespace_.empty());
    item.uid = failed.uid;
    item.rolled_at = Seconds(failed.rolled_at);
    failed_ones.push_back(failed.workload);
  }
  // A policy without waves has nothing of them, so that older CRDs do for it.
  if (state.has_waves || present.failed_waves) {
    auto& failed_waves = status.failed_waves.emplace();
    for (const PolicyState::FailedWave& failed : state.failed_in_waves) {
      auto& item = failed_waves.emplace_back();
      item.workload = ShownWorkload(failed.workload, state.id.namespace_.empty());
      item.uid = failed.uid;
      item.data = failed.data;
      item.since = Seconds(failed.since);
    }
  }
  Conditions<typename decltype(status.conditions)::value_type::value_type> conditions(
      apimachinery::OrEmpty(present.conditions), state.generation, now);
  const bool valid = state.problems.empty();
  conditions.Set("Ready", valid, valid ? "Accepted" : "Invalid",
                 valid ? AcceptedText(state) : "not in force: " + Joined(state.problems));
  const std::string failures = FailedText(failed_ones, static_cast<std::size_t>(state.failed));
  conditions.Set("Degraded", state.failed > 0, state.failed > 0 ? "RolloutsFailed" : "NoFailures",
                 failures);
  conditions.Set(
      "Stopped", state.stopped, state.stopped ? "TooManyFailures" : "BelowLimit",
      state.stopped ? failures + "; no more rollouts begin until they are mended" : failures);
  if (state.has_waves) {
    const bool failed = state.failed_waves > 0;
    conditions.Set("WaveFailed", failed, failed ? "RolloutFailed" : "NoFailedWave",
                   failed ? WaveText(state) : "no rollout has failed in a wave");
  }
  if (state.restores) {
    RestoreText text =
        RestoreTextOf(state, RestoreTextIn(apimachinery::OrEmpty(present.conditions)));
    conditions.Set(kRestored, text.is_restored, std::move(text.reason),
                   base::CutUtf8(text.message, kMaxMessageBytes));
  }
  status.conditions = conditions.Take();
  return status;
}

template reloadpolicy::v1alpha1::ReloadPolicyStatus PolicyStatusFor(
    const PolicyState& state, const reloadpolicy::v1alpha1::ReloadPolicyStatus& present,
    base::WallTime now);
template reloadpolicy::v1alpha1::ClusterReloadPolicyStatus PolicyStatusFor(
    const PolicyState& state, const reloadpolicy::v1alpha1::ClusterReloadPolicyStatus& present,
    base::WallTime now);

PolicyStatusWriter::PolicyStatusWriter(std::shared_ptr<rest::RESTClient> client,
                                       const PolicyEnforcer& enforcer, const PolicyWatch& watch,
                                       Options options)
    : client_(std::move(client)),
      enforcer_(enforcer),
      watch_(watch),
      options_(std::move(options)),
      next_(options_.clock.Now() + options_.interval),
      task_(options_.executor, options_.clock,
            [this](const std::stop_token& stop) { return Step(stop); }) {
  task_.Start();
}

base::TimePoint PolicyStatusWriter::Step(const std::stop_token& stop) {
  if (options_.clock.Now() >= next_) {
    if (enforcer_.attached()) {
      WriteAll(stop);
    }
    next_ = options_.clock.Now() + options_.interval;
  }
  return next_;
}

void PolicyStatusWriter::WriteAll(const std::stop_token& stop) {
  const std::vector<PolicyState> states = enforcer_.States();
  const auto is_gone = [&](const auto& entry) {
    return std::ranges::find(states, entry.first, &PolicyState::id) == states.end();
  };
  std::erase_if(told_, is_gone);
  std::erase_if(failures_, is_gone);  // a policy that is made anew is written at once
  cuts_.EraseIf(is_gone);
  if (options_.observe) {
    std::vector<PolicyState> own = states;
    std::erase_if(own, [&](const PolicyState& state) {
      return options_.reports && !options_.reports(state.id.namespace_);
    });
    options_.observe(own);
  }
  for (const PolicyState& state : states) {
    if (stop.stop_requested()) {
      return;
    }
    if (options_.reports && !options_.reports(state.id.namespace_)) {
      told_.erase(state.id);  // another replica reports now
      continue;
    }
    if (state.id.namespace_.empty()) {
      Write(state, watch_.of_cluster(), stop);
    } else {
      Write(state, watch_.namespaced(), stop);
    }
  }
}

template <class T>
void PolicyStatusWriter::Write(const PolicyState& state, const cache::SharedInformer<T>& informer,
                               const std::stop_token& stop) {
  // The state is asked for first, so that what the informer gets meanwhile is looked at the next
  // time.
  const Settled asked{.state = state,
                      .version = informer.LastSyncResourceVersion(state.id.namespace_)};
  const StatusCut cut = cuts_.At(state.id, options_.clock.Now());
  const auto told = told_.find(state.id);
  if (told != told_.end() && told->second.settled == asked && told->second.cut == cut) {
    return;
  }
  const auto object = informer.Get(state.id);
  if (!object || (*object)->metadata.generation != state.generation) {
    return;  // it is gone, or is about to change
  }
  using Status = std::remove_cvref_t<decltype(*(*object)->status)>;
  const Status present = (*object)->status ? *(*object)->status : Status();
  const Status whole = PolicyStatusFor(state, present, options_.clock.Wall());
  const Status wanted = CutStatus(whole, cut);
  if (Tell(state, **object, present, wanted)) {
    // After a start, or when a shard has just come here, the waiting workloads may not be known
    // yet.
    return;
  }
  if (wanted == present) {
    Told& entry = told_.at(state.id);
    if (entry.told == FactsOf(wanted)) {
      entry.settled = asked;
      entry.cut = cut;
    }
    return;
  }
  const auto failed = failures_.find(state.id);
  if ((failed != failures_.end() && options_.clock.Now() < failed->second.again)) {
    return;
  }
  const kubernetes::ResourceClient<T> client(client_, state.id.namespace_);
  const base::Executor::Waiting waiting;  // for the answers
  const auto write = [&](const Status& status) {
    return client.Patch(state.id.name, rest::PatchType::kMerge, PatchFor(status),
                        {.field_manager = "kubexx-reloader", .subresource = "status"}, stop);
  };
  const auto written = write(wanted);
  if (!written && written.error().reason == apimachinery::Reason::kInvalid) {
    const auto taken =
        LeastCut(whole, wanted, [&](const Status& shorter) -> apimachinery::Result<void> {
          if (shorter != present) {  // the present one was taken before
            KX_RETURN_IF_ERROR(write(shorter));
          }
          return {};
        });
    if (taken) {
      cuts_.Note(state.id, *taken, options_.clock.Now(), written.error().ToString());
      failures_.erase(state.id);
      return;
    }
  }
  if (!written) {
    if (!apimachinery::IsObjectNotFound(written.error()) && !stop.stop_requested()) {
      NoteFailure(state.id, written.error().ToString());
    }
  } else if ((written->status ? *written->status : Status()) == present) {
    // Otherwise the same status would be written at each interval.
    NoteFailure(state.id, kNothingChanged);
  } else {
    failures_.erase(state.id);
  }
}

void PolicyStatusWriter::NoteFailure(const reloadpolicy::PolicyId& policy, std::string error) {
  Failure& failure = failures_[policy];
  failure.again = options_.clock.Now() + kPauseAfterFailure;
  if (error != failure.error) {
    logging::Warning("Cannot write the status of a policy; the operator tries again",
                     {{"policy", policy.ToString()}, {"error", error}});
    failure.error = std::move(error);
  }
}

template <class T, class S>
bool PolicyStatusWriter::Tell(const PolicyState& state, const T& object, const S& present,
                              const S& wanted) {
  const auto [at, is_first] = told_.try_emplace(state.id, Told{.told = FactsOf(present)});
  Told& told = at->second;
  PolicyFacts now = FactsOf(wanted);
  if (is_first || now != told.seen) {
    told.seen = std::move(now);
    return is_first;
  }
  if (options_.recorder != nullptr) {
    for (PolicyNews& news : NewsBetween(told.told, now, state)) {
      options_.recorder->Event(object, news.type, std::move(news.reason), std::move(news.note));
    }
  }
  told.told = std::move(now);
  return false;
}

}  // namespace kubexx::reloader
