// What an Oracle allows operators to be in doubt of: see docs/simulation.md.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "kubexx/reloader/plan/baseline.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

/// Begins the keys of Argo's Rollouts.
constexpr std::string_view kRolloutKeys = "rollouts/";
constexpr std::string_view kCronJobKeys = "cronjobs/";
/// For so long a list may not have come that is due after a watch.
constexpr std::chrono::minutes kGap{15};
/// Within this time operators ask for an API that was missing.
constexpr std::chrono::minutes kAskedAgain{2};

}  // namespace

bool Oracle::IsInDoubtLocked(const std::string& key, const ObservedWorkload& workload) const {
  return !strict_ &&
         (workload.is_doubted_in_place || std::ranges::any_of(workload.read, [&](const auto& each) {
            return IsInDoubtOfLocked(key, workload, each.first) ||
                   IsBetweenWritesLocked(workload, each.first) ||
                   IsOfAnotherKeyLocked(key, workload, each.first);
          }));
}

void Oracle::SeeReloadInPlaceLocked(const std::string& key, const ObservedWorkload& before,
                                    ObservedWorkload& workload) const {
  const std::string unknown = reloader::UnknownData().ToString();
  const bool was_begun = before.baseline.contains(unknown);
  workload.is_doubted_in_place =
      workload.baseline.contains(unknown) &&
      (was_begun ? before.is_doubted_in_place : IsInDoubtLocked(key, before));
}

bool Oracle::IsBetweenWritesLocked(const ObservedWorkload& workload,
                                   const std::string& source) const {
  const auto written = written_at_.find(SourceOf(source));
  const bool is_of_later_version =
      IsProviderClass(source) ||
      (written != written_at_.end() && written->second > workload.template_at);
  return !workload.base.empty() && !workload.is_of_others && is_of_later_version &&
         IsNamed(workload.baseline, source) && !IsRecordedLocked(workload, source);
}

bool Oracle::IsOfAnotherKeyLocked(const std::string& key, const ObservedWorkload& workload,
                                  const std::string& source) const {
  const auto edited = changed_at_.find(SourceOf(source));
  const auto changed = changed_at_.find(source);
  if (!IsView(source) || !key.starts_with(kRolloutKeys) || !workload.base.empty() ||
      !workload.baseline.empty() || !workload.is_of_others || edited == changed_at_.end() ||
      changed == changed_at_.end()) {
    return false;
  }
  return changed->second < workload.template_since && workload.template_since < edited->second &&
         edited->second < std::max(led_since_, oldest_operator_) + kGap;
}

bool Oracle::IsInDoubtOfLocked(const std::string& key, const ObservedWorkload& workload,
                               const std::string& source) const {
  const auto written = written_at_.find(SourceOf(source));
  const auto data = data_written_.find(SourceOf(source));
  return written != written_at_.end() && data != data_written_.end() &&
         IsDoubtful({.baseline = workload.baseline,
                     .template_written = workload.template_written,
                     .own_written = workload.own_written,
                     .undone = workload.undone,
                     .is_of_jobs = key.starts_with(kCronJobKeys)},
                    source, written->second, data->second);
}

bool Oracle::IsToldByListLocked(const std::string& key, const ObservedWorkload& workload) const {
  return key.starts_with(kRolloutKeys) && workload.made == workload.template_since &&
         rollouts_served_ && workload.made - *rollouts_served_ < kAskedAgain;
}

bool Oracle::IsMadeAfterChangeLocked(const ObservedWorkload& workload) const {
  return std::ranges::any_of(workload.read, [&](const auto& each) {
    const auto changed = changed_at_.find(each.first);
    return changed != changed_at_.end() && workload.made - changed->second < kGap;
  });
}

void Oracle::SetOldestOperator(base::TimePoint since) {
  const base::MutexLock lock(mu_);
  oldest_operator_ = since;
}

bool Oracle::IsFromBeforeLocked(const std::string& source) const {
  const auto changed = changed_at_.find(source);
  return changed != changed_at_.end() && changed->second < oldest_operator_;
}

bool Oracle::IsHiddenLocked(const ObservedWorkload& workload, const std::string& source) const {
  const auto written = data_written_.find(SourceOf(source));
  const auto changed = changed_at_.find(source);
  return workload.is_of_others && !workload.released.empty() &&
         IsRecordedLocked(workload, source) && written != data_written_.end() &&
         changed != changed_at_.end() && workload.released <= written->second &&
         written->second < workload.template_written && changed->second < oldest_operator_;
}

bool Oracle::IsOfUnknownAgeLocked(const ObservedWorkload& workload) const {
  return !strict_ && !workload.was_rolled && workload.baseline.empty() &&
         options_.now() - workload.made < kGap && IsMadeAfterChangeLocked(workload);
}

bool Oracle::IsLeftToVariablesLocked(const ObservedWorkload& workload,
                                     const std::string& stamps) const {
  return !strict_ && !workload.is_unrecorded && workload.baseline_gone &&
         *workload.baseline_gone < oldest_operator_ &&
         std::ranges::any_of(
             workload.read,
             [&](const auto& each) {
               const auto& [source, data] = each;
               return data && HasLocked(source, *data) &&
                      TellsOfOtherData(workload.stamps, source, *data) &&
                      !TellsOfOtherData(stamps, source, *data);
             });
}

}  // namespace kubexx::oracle
