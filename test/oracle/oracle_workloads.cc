// What an Oracle makes of each version of a workload.
#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using base::TimePoint;
using codec::JsonTree;

/// Of the Jobs by which operators roll a CronJob.
constexpr std::string_view kRolledFor = "kubexx.io/rolled-for";
/// A rollout that has not ended within this time may have failed, by the policies that people
/// install, and holds no place then.
constexpr std::chrono::seconds kShortestTimeout{30};
/// For so long a rollout that goes by no version may be on its way.
constexpr std::chrono::minutes kBlindWrite{1};
/// For so long after a restore operators may not have read everything anew.
constexpr std::chrono::minutes kAfterRestore{2};

constexpr std::size_t kMostFormers = 4;
/// Longer than a plan is on its way as a write when nothing goes wrong; less than a settle window.
constexpr std::chrono::milliseconds kOnTheWay{60};
/// Times of managed fields are whole seconds, of a clock that may be another's.
constexpr std::chrono::seconds kSameSecond{3};
/// Longer than a request of a process that was killed is on its way.
constexpr std::chrono::seconds kLastWords{10};

}  // namespace

void Oracle::ReadLocked(ObservedWorkload& workload) {
  for (auto& [source, data] : workload.read) {
    // With what pods begin while operators may not see it, these cannot know.
    const auto there = hidden_.contains(source) ? data_.end() : data_.find(source);
    data = there == data_.end() ? std::nullopt : std::optional(there->second);
  }
  workload.read_later.clear();
  workload.is_left_behind = false;
}

void Oracle::ReadAsRecordedLocked(
    const std::map<std::string, std::optional<std::string>>& began_with,
    ObservedWorkload& workload) {
  for (auto& [source, data] : workload.read) {
    const auto before = data_before_.find(source);
    const auto began = began_with.find(source);
    const bool has_changed = began == began_with.end() || began->second != data;
    if (data && has_changed && before != data_before_.end() &&
        !IsRecorded(workload.baseline, source, *data) &&
        IsRecorded(workload.baseline, source, before->second)) {
      data = before->second;
    }
  }
}

bool Oracle::HasPresentDataLocked(const ObservedWorkload& workload) const {
  return OldOfLaterPodsLocked(workload) == nullptr &&
         std::ranges::all_of(workload.read, [this](const auto& each) {
           return data_.contains(each.first) ? each.second && HasLocked(each.first, *each.second)
                                             : !each.second;
         });
}

bool Oracle::IsUpToDateLocked(const ObservedWorkload& workload) {
  return std::ranges::all_of(workload.read, [this, &workload](const auto& each) {
    return !data_.contains(each.first) || IsRecordedLocked(workload, each.first);
  });
}

void Oracle::KeepFormerLocked(const std::string& key, const ObservedWorkload& before) {
  std::deque<Former>& formers = formers_[key];
  std::erase_if(
      formers, [&before](const Former& each) { return each.pod_template == before.template_text; });
  formers.push_back({.pod_template = before.template_text, .annotations = before.annotations});
  if (formers.size() > kMostFormers) {
    formers.pop_front();
  }
}

std::string Oracle::NeedlessLocked(const std::string& key, const ObservedWorkload& workload,
                                   const ObservedWorkload& before,
                                   const std::string& stamps) const {
  const TimePoint now = options_.now();
  if (before.blind && now - *before.blind < kBlindWrite) {
    return "";
  }
  // The write of a Deployment's template does not go by the version of the Rollout that names it.
  const bool is_just_asked = !before.base.empty() && now - before.asked_at < kBlindWrite;
  if (before.is_opted_out && !is_just_asked) {
    return "though its people have opted out";
  }
  if (before.is_on_hold && !is_just_asked) {
    return "though its people have put rollouts on hold";
  }
  if (strict_ && IsForHiddenLocked(before, stamps)) {
    return "for data of a source that does not allow it";
  }
  if (before.is_undone && HasPresentDataLocked(before) && !IsInDoubtLocked(key, before)) {
    return "though it was undone, and its data have not changed since";
  }
  if (before.is_mixed || before.is_behind_record || !HasPresentDataLocked(before) ||
      IsInDoubtLocked(key, before)) {
    return "";
  }
  const bool is_recorded_anew =
      !before.baseline.empty() && DigestsIn(before.baseline) != DigestsIn(workload.baseline);
  if (!stamps.empty() && before.stamps == stamps && !is_recorded_anew &&
      !IsOfUnknownAgeLocked(before)) {
    return "again for data that its pods have";
  }
  if (!before.is_of_others) {
    return "";
  }
  // Who is told of it by a list does not know its age, and may record what was there before.
  const bool is_recorded_old = std::ranges::any_of(before.read, [&](const auto& each) {
    return IsNamed(before.baseline, each.first) && !IsRecordedLocked(before, each.first);
  });
  if (!before.is_data_new && !before.was_stamped && !before.was_held && !is_recorded_old &&
      before.made + kLastWords < oldest_operator_) {
    return "though nothing has changed since it was made, before any operator began";
  }
  // Pods tell what they have, and nobody when they began.
  const bool mounts = std::ranges::any_of(
      before.read, [](const auto& each) { return IsProviderClass(each.first); });
  if (strict_ && !mounts && !before.was_asked_for && !IsToldByListLocked(key, before) &&
      before.data_since < before.template_since && now - before.template_since > kOnTheWay) {
    return "for data that its pods began with, as operators must have seen";
  }
  return "";
}

std::string Oracle::UnderWayBesideLocked(const std::string& key) const {
  const auto found = std::ranges::find_if(workloads_, [&](const auto& each) {
    const auto& [name, workload] = each;
    return name != key && SpaceOf(name) == SpaceOf(key) && !workload.is_of_others &&
           !workload.is_paused && workload.observed < workload.rolled_generation &&
           options_.now() - workload.template_since < kShortestTimeout;
  });
  return found == workloads_.end() ? std::string() : found->first;
}

void Oracle::OnRolloutLocked(const std::string& key, ObservedWorkload& workload,
                             const ObservedWorkload& before, const std::string& stamps) {
  if (const std::string why = NeedlessLocked(key, workload, before, stamps); !why.empty()) {
    SetWrongLocked(key + " was rolled " + why);
  }
  if (const std::string why = TooEarlyLocked(key, workload, before); !why.empty()) {
    SetWrongLocked(key + " was rolled " + why);
  }
  if (const std::string beside = strict_ && limited_ ? UnderWayBesideLocked(key) : "";
      !beside.empty()) {
    SetWrongLocked(key + " was rolled while a rollout of " + beside + " is under way");
  }
  // Where it says anything: an operator that keeps none takes away what is there. That of a Rollout
  // with the template of a Deployment comes with a write of its own. A Job is another each time.
  const std::string owner = key.starts_with("jobs/") ? "job" + key.substr(4) : workload.uid;
  if (const std::string wrong = workload.history.empty() || !workload.base.empty()
                                    ? std::string()
                                    : WrongInHistory(workload.history, owner, stamps);
      !wrong.empty()) {
    SetWrongLocked(key + " was rolled with a history " + wrong);
  }
  // Two changes of data, there and back, are reasons enough; a label that was written is none.
  const bool is_in_doubt = before.is_behind_record || IsInDoubtLocked(key, before) ||
                           IsLeftToVariablesLocked(before, stamps);
  workload.doubts += is_in_doubt ? 1U : 0U;
  workload.rolled_generation = workload.generation;
  // Without a record, who learns of restored sources one after the other rolls for one after the
  // other: see docs/simulation.md.
  workload.is_mixed = workload.is_restored && workload.is_unrecorded &&
                      options_.now() - workload.made < kAfterRestore;
  workload.is_undone = false;
  workload.was_rolled = true;
  ++workload.rolled;
  ++counts_.rollouts;
  counts_.without_news += HasPresentDataLocked(before) ? 1 : 0;
  if (options_.exact && IsUpToDateLocked(workload)) {
    JudgeLocked(key, workload);
  }
}

void Oracle::OnWorkloadLocked(const std::string& key, const JsonTree& object) {
  const auto [found, is_new] = workloads_.try_emplace(key);
  ObservedWorkload& workload = found->second;
  ProveHealthyLocked(key, workload);
  const ObservedWorkload before = workload;
  workload.Take(object);
  SeeReloadInPlaceLocked(key, before, workload);
  changed_.notify_all();
  if (!is_new && workload.replicas > before.replicas) {
    workload.growing_generation = workload.generation;
  }
  if (!workload.healthy_since && workload.observed >= workload.generation &&
      !workload.is_crashing) {
    workload.healthy_since = options_.now();
  }
  if (before.is_opted_out != workload.is_opted_out || before.is_on_hold != workload.is_on_hold) {
    workload.asked_at = options_.now();
  }
  if (before.is_paused && before.is_held && workload.is_held && !workload.is_paused) {
    SetWrongLocked(key + " was resumed, though its people hold it");
  }
  if (!workload.baseline.empty()) {
    workload.baseline_gone.reset();
  } else if (!before.baseline.empty()) {
    workload.baseline_gone = options_.now();
  }
  if (!is_new && before.baseline.empty() && !workload.baseline.empty()) {
    // What changed before an operator saw it for the first time, nobody could know of.
    const auto began_with = workload.read;
    ReadLocked(workload);
    ReadAsRecordedLocked(began_with, workload);
    workload.is_behind_record = workload.read != began_with;
    ProveLocked(key, workload);
  }
  for (auto& [source, data] : workload.read) {
    // The same of a source that the baseline has not named before, and of what its pods began to
    // tell of later.
    const auto there = data_.find(source);
    const bool is_first = !before.baseline.empty() && !IsNamed(before.baseline, source) &&
                          IsFromBeforeLocked(source) && there != data_.end() &&
                          !TellsOfOtherData(before.stamps, source, there->second);
    const bool is_told_later = !data && IsProviderClass(source);
    const bool is_seen_later =
        !data && IsForeign(source) && there != data_.end() && IsRecordedLocked(workload, source);
    if (is_seen_later || ((is_first || is_told_later) && IsNamed(workload.baseline, source))) {
      data = there == data_.end() ? std::nullopt : std::optional(there->second);
    }
  }
  if (workload.awaits_resume && !workload.is_paused) {
    workload.awaits_resume = false;  // its pods are made now
    ReadLocked(workload);
  }
  const JsonTree* const pod = object.At({"spec", "template"});
  std::string text = TextOf(pod);
  if (pod == nullptr || IsSameJson(workload.template_text, text)) {
    return;
  }
  std::string others = OthersPartOf(*pod);
  std::string stamps = StampsIn(*pod);
  const bool by_operator =
      !is_new && workload.mark == before.mark && IsSameJson(others, before.others_text);
  if (!is_new && !by_operator && !is_restored_ && workload.mark == before.mark) {
    SetWrongLocked(key + " was rolled by an operator that changed what others wrote");
  }
  const bool is_undo = !is_new && !by_operator && workload.mark != before.mark &&
                       workload.mark.starts_with(kUndoMark);
  tell_("storage", key + (is_new        ? " is there"
                          : by_operator ? " is rolled"
                          : is_undo     ? " is undone"
                                        : " has another template"));
  // Pods that are made of it now read what there is now.
  workload.TakeSources(key, *pod);
  if (by_operator) {
    OnRolloutLocked(key, workload, before, stamps);
  } else if (!is_new) {
    // An operator that found a rollout under way at its start knows no template from before: pods
    // of any may be alive, so it makes all of them anew once when others change the template then.
    // So does one that begins after an undo of which it cannot tell what the pods began with.
    const bool was_under_way = before.observed < before.generation || before.is_paused;
    workload.doubts += (was_under_way ? 1U : 0U) + (is_undo ? 1U : 0U);
    // What is known of an undo of which the managed fields tell, see docs/reloader/behaviour.md.
    // They do not where it changes neither a stamp nor the baseline: what is gone has no owner.
    const bool is_told = HasNewStamp(before.stamps, stamps) || workload.baseline != before.baseline;
    workload.is_undone = is_undo && is_told && !before.is_mixed && !was_under_way &&
                         !workload.is_opted_out && !workload.is_on_hold &&
                         !workload.is_unrecorded && !before.baseline.empty() &&
                         options_.now() - before.data_since > kSameSecond;
    workload.is_mixed = before.is_mixed || was_under_way || is_undo;
    counts_.undone += is_undo ? 1 : 0;
  }
  if (!is_new) {
    KeepFormerLocked(key, before);
  }
  workload.was_stamped = is_new ? !stamps.empty() : workload.was_stamped;
  workload.is_of_others = !by_operator;
  workload.is_behind_record = false;
  workload.released = workload.template_written;
  workload.awaits_resume = workload.is_paused;
  workload.template_since = options_.now();
  workload.template_at = applied_;
  workload.growing_generation = workload.generation;
  workload.template_text = std::move(text);
  workload.others_text = std::move(others);
  workload.stamps = std::move(stamps);
  ReadLocked(workload);
  workload.healthy_since.reset();
  if (workload.is_of_others) {
    ProveLocked(key, workload);
  }
  if (is_new) {
    BeginLocked(workload);
  }
}

void Oracle::BeginLocked(ObservedWorkload& workload) {
  workload.made = options_.now();
  workload.doubts += IsMadeAfterChangeLocked(workload) ? 1U : 0U;
  workload.was_held =
      workload.is_on_hold || std::ranges::any_of(workload.read, [this](const auto& each) {
        return paused_.contains(SourceOf(each.first));
      });
  if (is_restored_) {  // its pods may be newer than it is
    workload.is_mixed = true;
    workload.is_restored = true;
    workload.doubts += 2;
  }
}

void Oracle::JudgeLocked(const std::string& key, ObservedWorkload& workload) {
  if (workload.rolled > workload.reasons + workload.doubts) {
    const std::string what = key + " was rolled " + std::to_string(workload.rolled) +
                             " times for " + std::to_string(workload.reasons) + " changes";
    tell_("oracle", what);
    too_many_ = too_many_.value_or(what);
  } else if (workload.rolled > workload.reasons) {
    counts_.doubted += workload.rolled - workload.reasons;
  }
  workload.rolled = 0;
  workload.reasons = 0;
  workload.doubts = 0;
}

// A change of its template starts nothing.
void Oracle::OnCronJobLocked(const std::string& key, const JsonTree& object) {
  const auto [found, is_new] = workloads_.try_emplace(key);
  ObservedWorkload& workload = found->second;
  const bool had_baseline = !workload.baseline.empty();
  workload.Take(object);
  workload.observed = workload.generation;  // nobody has to act on it
  const JsonTree* const pod = object.At({"spec", "jobTemplate", "spec", "template"});
  if (is_new && pod != nullptr) {
    workload.TakeSources(key, *pod);
    ReadLocked(workload);
    BeginLocked(workload);
    tell_("storage", key + " is there");
  } else if (!had_baseline && !workload.baseline.empty()) {
    ReadLocked(workload);
  }
}

// One that rolls a CronJob has the data of its beginning.
void Oracle::OnJobLocked(const std::string& key, const JsonTree& object) {
  if (object.At({"metadata", "annotations", kMarkAnnotation}) != nullptr) {
    return OnOwnJobLocked(key, object);
  }
  const JsonTree* const owners = object.At({"metadata", "ownerReferences"});
  if (!jobs_.insert(key).second || is_restored_ || owners == nullptr ||
      owners->elements().empty() || object.At({"metadata", "annotations", kRolledFor}) == nullptr) {
    return;
  }
  const JsonTree& owner = owners->elements().front();
  const std::size_t begin = key.find('/');
  const auto found = workloads_.find("cronjobs" + key.substr(begin, key.rfind('/') + 1 - begin) +
                                     std::string(owner.TextAt("name")));
  if (found != workloads_.end() && found->second.uid == owner.TextAt("uid")) {
    found->second.doubts += IsInDoubtLocked(found->first, found->second) ? 1U : 0U;
    ++found->second.rolled;
    ++counts_.rollouts;
    ReadLocked(found->second);
    tell_("storage", found->first + " is run as " + key);
  }
}

// A Job is rolled by another of its name, which has all that people have written on the first.
void Oracle::OnOwnJobLocked(const std::string& key, const JsonTree& object) {
  const auto [found, is_new] = workloads_.try_emplace(key);
  ObservedWorkload& workload = found->second;
  const ObservedWorkload before = workload;
  workload.Take(object);
  workload.observed = workload.generation;  // nobody has to act on it
  workload.is_gone = false;
  if (!is_new && before.baseline.empty() && !workload.baseline.empty()) {
    ReadLocked(workload);  // as OnWorkloadLocked
  }
  const JsonTree* const pod = object.At({"spec", "template"});
  if (pod == nullptr || (!is_new && before.uid == workload.uid)) {
    return;
  }
  workload.TakeSources(key, *pod);
  const std::string stamps = StampsIn(*pod);
  tell_("storage", key + (is_new ? " is there" : " is made anew"));
  if (is_new) {
    workload.was_stamped = !stamps.empty();
    BeginLocked(workload);
  } else {
    OnRolloutLocked(key, workload, before, stamps);
  }
  workload.is_of_others = is_new;
  workload.template_since = options_.now();
  workload.template_at = applied_;
  workload.stamps = stamps;
  ReadLocked(workload);
}

}  // namespace kubexx::oracle
