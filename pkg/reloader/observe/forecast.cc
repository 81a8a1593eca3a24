#include "kubexx/reloader/observe/forecast.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloadpolicy/wave_line.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Arbiter;
using reloadpolicy::Hold;
using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;

base::WallTime Later(base::WallTime time, base::Duration by) {
  return time + std::chrono::duration_cast<base::WallTime::duration>(by);
}

/// Simulates the operator: asks the arbiter for each workload, and lets rollouts end.
class Forecaster {
 public:
  Forecaster(Arbiter arbiter, std::vector<DueWorkload> due, const std::vector<Workload>& users,
             base::WallTime now)
      : arbiter_(std::move(arbiter)), users_(users), now_(now) {
    std::ranges::sort(
        due, {}, [](const DueWorkload& each) -> const WorkloadId& { return each.workload->id; });
    entries_.reserve(due.size());
    for (DueWorkload& each : due) {
      const ObjectRef ref = RefOf(each.workload->id);
      const int order = arbiter_.policies().Resolve(ref, each.workload->annotations).Order();
      places_[ref] = entries_.size();
      Entry entry{.due = std::move(each), .ref = ref, .order = order};
      entry.result.workload = entry.due.workload->id;
      entry.result.hold = entry.due.held;
      entries_.push_back(std::move(entry));
    }
    MakeLines();
  }

  std::vector<Forecast> Run() {
    std::vector<std::size_t> to_ask;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].due.held) {
        to_ask.push_back(i);
      }
    }
    bool are_users_done = false;
    // Each round begins a rollout, or lets the time pass for which one of the workloads waits.
    for (std::size_t round = 0; round <= 4 * entries_.size() + kMoreRounds; ++round) {
      if (Ask(to_ask)) {
        to_ask = AfterStep();
        if (!to_ask.empty()) {
          continue;
        }
      }
      to_ask = AfterTime();
      if (to_ask.empty() && !are_users_done) {
        are_users_done = true;
        FinishUsers();
        to_ask = Waiting();
      }
      if (to_ask.empty()) {
        break;
      }
    }
    return Take();
  }

 private:
  static constexpr std::size_t kMoreRounds = 1000;
  using LineKey = std::pair<SourceId, reloadpolicy::PolicyId>;

  struct Entry {
    DueWorkload due{};
    ObjectRef ref{};
    int order = 0;
    bool has_begun = false;
    std::optional<Hold> hold{};  ///< the last answer
    Forecast result{};
  };
  struct Begun {
    const Entry* entry = nullptr;
    reloadpolicy::Annotations annotations{};
  };

  /// Asks the arbiter for these workloads. Returns whether a rollout has begun.
  bool Ask(const std::vector<std::size_t>& indexes) {
    begun_.clear();
    for (const std::size_t i : indexes) {
      Entry& entry = entries_[i];
      const Workload& workload = *entry.due.workload;
      const reloadpolicy::Decision decision = arbiter_.Begin({.workload = entry.ref,
                                                              .annotations = workload.annotations,
                                                              .before = Before(entry),
                                                              .uid = workload.uid,
                                                              .phase = workload.phase,
                                                              .earlier_wave = EarlierOf(entry)},
                                                             time_);
      entry.hold = decision.hold;
      if (decision.hold) {
        entry.result.hold = entry.result.hold ? entry.result.hold : decision.hold;
        continue;
      }
      entry.has_begun = true;
      entry.result.step = steps_ + 1;
      entry.result.not_before = jumped_;
      begun_.push_back({&entry, AnnotationsOf(entry, decision)});
    }
    steps_ += begun_.empty() ? 0 : 1;
    return !begun_.empty();
  }

  /// Divides the workloads that each cause rolls into waves, where a policy asks for that.
  void MakeLines() {
    std::map<LineKey, std::pair<reloadpolicy::Waves, std::vector<reloadpolicy::WaveMember>>> lines;
    for (const Entry& entry : entries_) {
      const Workload& workload = *entry.due.workload;
      const auto effective = arbiter_.policies().Resolve(entry.ref, workload.annotations);
      if (!effective.waves || !effective.waves->policy) {
        continue;
      }
      for (const SourceId& cause : entry.due.causes) {
        auto& [waves, members] = lines[{cause, *effective.waves->policy}];
        waves = effective.waves->value;
        members.push_back(
            WaveMemberFor(entry.ref, workload.annotations, effective, workload.phase));
        lines_of_[entry.ref].emplace_back(cause, *effective.waves->policy);
      }
    }
    for (auto& [key, line] : lines) {
      lines_.emplace(key, reloadpolicy::WaveLine(line.first, std::move(line.second)));
    }
  }

  /// Returns the first workload of an earlier wave that is not rolled, or not healthy yet.
  std::optional<reloadpolicy::EarlierWave> EarlierOf(const Entry& entry) const {
    const auto keys = lines_of_.find(entry.ref);
    if (keys == lines_of_.end()) {
      return std::nullopt;
    }
    for (const LineKey& key : keys->second) {
      const reloadpolicy::WaveLine& line = lines_.at(key);
      const std::size_t wave = line.WaveOf(entry.ref);
      for (std::size_t i = 0; i < line.MembersBefore(wave); ++i) {
        const ObjectRef& ref = line.members()[i].workload;
        if (!entries_[places_.at(ref)].has_begun || arbiter_.IsFollowed(ref)) {
          return reloadpolicy::EarlierWave{wave + 1, line.waves(), ref};
        }
      }
    }
    return std::nullopt;
  }

  /// Returns the first workload that has to be rolled before this one.
  std::vector<ObjectRef> Before(const Entry& entry) const {
    if (entry.order <= 0) {
      return {};
    }
    for (const Entry& other : entries_) {
      if (other.order < entry.order && !IsOfLaterWave(other, entry) &&
          (!other.has_begun || arbiter_.IsActive(other.ref)) &&
          std::ranges::any_of(
              other.due.causes,
              [&](const SourceId& cause) { return entry.due.causes.contains(cause); })) {
        return {other.ref};
      }
    }
    for (const Workload& user : users_) {
      const ObjectRef ref = RefOf(user.id);
      if (!places_.contains(ref) && arbiter_.IsActive(ref) &&
          arbiter_.policies().Resolve(ref, user.annotations).Order() < entry.order) {
        return {ref};
      }
    }
    return {};
  }

  /// Whether waves let `entry` go before `other`, whatever their orders are.
  bool IsOfLaterWave(const Entry& other, const Entry& entry) const {
    const auto keys = lines_of_.find(entry.ref);
    return keys != lines_of_.end() && std::ranges::any_of(keys->second, [&](const LineKey& key) {
             const reloadpolicy::WaveLine& line = lines_.at(key);
             const auto* const one = line.Find(other.ref);
             return one != nullptr && ComesFirst(*line.Find(entry.ref), *one);
           });
  }

  /// Whether the rollout of a workload that comes before has ended.
  bool IsOver(const ObjectRef& ref) const {
    const auto found = places_.find(ref);
    return (found == places_.end() || entries_[found->second].has_begun) && !arbiter_.IsActive(ref);
  }

  /// Returns the annotations that the write that begins a rollout leaves on the workload.
  static reloadpolicy::Annotations AnnotationsOf(const Entry& entry,
                                                 const reloadpolicy::Decision& decision) {
    reloadpolicy::Annotations annotations = entry.due.workload->annotations;
    if (decision.tracked) {
      annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] =
          apimachinery::Time::From(decision.started).ToString();
    }
    if (decision.record) {
      annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
          reloadpolicy::RecordFor(*decision.record, entry.due.workload->uid);
    }
    return annotations;
  }

  /// Lets the rollouts end that have just begun. Returns the workloads that may be next.
  std::vector<std::size_t> AfterStep() {
    base::Duration soak{};
    for (const Begun& each : begun_) {
      soak = std::max(soak, See(*each.entry->due.workload, each.annotations));
    }
    PassSoak(soak);
    return Next();
  }

  /// Shows the arbiter that the workload is complete. Returns how long it has to stay complete.
  base::Duration See(const Workload& workload, const reloadpolicy::Annotations& annotations) {
    const ObjectRef ref = RefOf(workload.id);
    arbiter_.Observe(
        ref,
        {.uid = workload.uid, .annotations = annotations, .phase = reloadpolicy::Phase::kComplete},
        time_);
    return arbiter_.policies().Resolve(ref, annotations).SoakTime();
  }

  void PassSoak(base::Duration soak) {
    // The start of a rollout is rounded to seconds, and may be up to one second later than now.
    time_ = Later(time_, soak + std::chrono::seconds(2));
    arbiter_.Sweep(time_);
  }

  /// Returns the workloads that waited for others and may go on now.
  std::vector<std::size_t> Next() {
    std::set<std::size_t> next;
    for (const ObjectRef& ref : arbiter_.TakeWakes(time_)) {
      if (const auto found = places_.find(ref); found != places_.end()) {
        next.insert(found->second);
      }
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& hold = entries_[i].hold;
      if (!entries_[i].has_begun && hold && hold->waits_for && IsOver(*hold->waits_for)) {
        next.insert(i);
      }
    }
    return {next.begin(), next.end()};
  }

  /// Lets time pass until one of the waiting workloads may ask again. Returns these workloads.
  std::vector<std::size_t> AfterTime() {
    std::optional<base::WallTime> next;
    for (const Entry& entry : entries_) {
      if (!entry.has_begun && entry.hold && entry.hold->until && *entry.hold->until > time_) {
        next = std::min(next.value_or(*entry.hold->until), *entry.hold->until);
      }
    }
    std::vector<std::size_t> indexes;
    if (!next || *next > Later(now_, kHorizon)) {
      return indexes;
    }
    time_ = *next;
    jumped_ = next;
    arbiter_.Sweep(time_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (!entry.has_begun && entry.hold && entry.hold->until && *entry.hold->until <= time_) {
        indexes.push_back(i);
      }
    }
    return indexes;
  }

  /// Lets the rollouts end that were in progress at the beginning.
  void FinishUsers() {
    base::Duration soak{};
    for (const Workload& user : users_) {
      const ObjectRef ref = RefOf(user.id);
      if (!places_.contains(ref) && arbiter_.IsActive(ref) && !arbiter_.FailureOf(ref, time_)) {
        soak = std::max(soak, See(user, user.annotations));
      }
    }
    PassSoak(soak);
  }

  std::vector<std::size_t> Waiting() const {
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].has_begun && entries_[i].hold && IsForOthers(entries_[i].hold->reason)) {
        indexes.push_back(i);
      }
    }
    return indexes;
  }

  std::vector<Forecast> Take() {
    std::vector<Forecast> forecasts;
    for (Entry& entry : entries_) {
      if (!entry.has_begun && entry.hold) {
        entry.result.hold = entry.hold;
      }
      forecasts.push_back(std::move(entry.result));
    }
    std::ranges::stable_sort(
        forecasts, {}, [](const Forecast& each) { return std::tuple(each.step == 0, each.step); });
    return forecasts;
  }

  /// Nobody plans for a time that is later than this.
  static constexpr base::Duration kHorizon = std::chrono::hours(24 * 400);

  Arbiter arbiter_;
  const std::vector<Workload>& users_;
  const base::WallTime now_;
  base::WallTime time_ = now_;
  std::optional<base::WallTime> jumped_;  ///< the time that the rollouts from now on wait for
  int steps_ = 0;
  std::vector<Entry> entries_;
  std::map<ObjectRef, std::size_t> places_;  ///< in entries_
  std::map<LineKey, reloadpolicy::WaveLine> lines_;
  std::map<ObjectRef, std::vector<LineKey>> lines_of_;
  std::vector<Begun> begun_;
};

}  // namespace

std::vector<Forecast> ForecastRollouts(Arbiter arbiter, std::vector<DueWorkload> due,
                                       const std::vector<Workload>& users, base::WallTime now) {
  return Forecaster(std::move(arbiter), std::move(due), users, now).Run();
}

}  // namespace kubexx::reloader
