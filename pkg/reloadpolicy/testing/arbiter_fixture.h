/// @file
/// A test fixture with an arbiter, workloads that the arbiter lets roll, and a clock for both.
#ifndef KUBEXX_RELOADPOLICY_TESTING_ARBITER_FIXTURE_H_
#define KUBEXX_RELOADPOLICY_TESTING_ARBITER_FIXTURE_H_

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy::testing {

/// The time at which each test begins.
inline const base::WallTime kBegin = base::WallTime(std::chrono::seconds(1'795'000'000));

/// Refers to the Deployment `name` in the namespace shop.
inline ObjectRef AppRef(const std::string& name) { return {"Deployment", {"shop", name}}; }

/// The annotations that a rollout started at `rolled` leaves on the workload with this uid.
inline Annotations Written(base::WallTime rolled, std::optional<RolloutState> record,
                           const std::string& uid = "u") {
  Annotations annotations{
      {std::string(kLastRolloutAnnotation), apimachinery::Time::From(rolled).ToString()}};
  if (record) {
    annotations[std::string(kRolloutStateAnnotation)] = RecordFor(*record, uid);
  }
  return annotations;
}

/// Simulates a process, its restarts, and the annotations that stay on the workloads meanwhile.
class ArbiterFixture : public ::testing::Test {
 protected:
  void SetPolicy(Settings settings) {
    arbiter_.SetPolicy({.id = {"shop", "p"}, .generation = 1, .settings = std::move(settings)});
  }
  void Restart(Settings settings) {
    arbiter_ = Arbiter();
    looked_at_.emplace();
    SetPolicy(std::move(settings));
  }
  /// Whether a process that has begun anew looks at the workload for the first time.
  bool IsFirstLook(const std::string& name) {
    return looked_at_ && looked_at_->insert(name).second;
  }
  Decision Begin(const std::string& name, Phase phase = Phase::kComplete, Annotations own = {}) {
    Decision decision = arbiter_.Begin({AppRef(name), own, {}, "u", phase}, now_);
    if (!decision.hold && decision.tracked) {
      Annotations written = Written(decision.started, decision.record);
      written.merge(own);
      on_workload_[name] = std::move(written);
    }
    return decision;
  }
  std::string Try(const std::string& name) {
    const Decision decision = arbiter_.Ask({AppRef(name), {}, {}, "u"}, now_);
    return decision.hold ? std::string(ToString(decision.hold->reason)) : "go";
  }
  void See(const std::string& name, Phase phase, const std::string& hash = "") {
    Sighting seen{"u", on_workload_[name], phase, hash};
    seen.is_first_look = IsFirstLook(name);
    arbiter_.Observe(AppRef(name), seen, now_);
    arbiter_.Sweep(now_);
  }
  void After(base::Duration time) {
    now_ += std::chrono::duration_cast<base::WallTime::duration>(time);
    arbiter_.Sweep(now_);
  }
  /// Writes on the workload what the arbiter asks for.
  std::optional<RolloutState> Mark(const std::string& name) {
    const reloadpolicy::Mark mark = arbiter_.TakeMark(AppRef(name), "u", on_workload_[name]);
    if (mark.record) {
      on_workload_[name][std::string(kRolloutStateAnnotation)] = RecordFor(*mark.record, "u");
    }
    failure_ = mark.failure.value_or("");
    return mark.record;
  }

  const Settings stop_{.health_timeout = std::chrono::seconds(8), .stop_after_failures = 1};
  const Annotations impatient_{{"reloader.kubexx.io/health-timeout", "1s"}};
  const Settings one_{
      .max_in_namespace = 1, .health_gate = true, .health_timeout = std::chrono::minutes(1)};
  Arbiter arbiter_;
  base::WallTime now_ = kBegin;
  std::map<std::string, Annotations> on_workload_;
  /// The workloads that were seen since the last Restart; nothing: there was none.
  std::optional<std::set<std::string>> looked_at_{};
  std::string failure_;
};

}  // namespace kubexx::reloadpolicy::testing

#endif  // KUBEXX_RELOADPOLICY_TESTING_ARBITER_FIXTURE_H_
