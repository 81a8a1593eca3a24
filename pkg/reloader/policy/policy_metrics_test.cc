#include "kubexx/reloader/policy/policy_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Phase;

class PolicyMetricsTest : public testing::Test {
 protected:
  bool Admit(const std::string& name, std::map<std::string, std::string> annotations = {}) {
    Change change;
    change.causes = {{SourceType::kConfigMap, {"shop", "config"}}};
    std::vector<Change> changes{change};
    AnnotationEdits edits;
    return enforcer_.Admit({.id = {WorkloadKind::kDeployment, {"shop", name}},
                            .annotations = {annotations.begin(), annotations.end()}},
                           changes, edits);
  }
  double Value(const std::string& name, const metrics::Labels& labels = {}) {
    (void)registry_.Serialize();
    return registry_.Gauge("kubexx_reloader_" + name, "", labels).Value();
  }
  double Held(const std::string& reason) { return Value("rollouts_held", {{"reason", reason}}); }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  PolicyEnforcer enforcer_{PolicyEnforcer::Options{.clock = clock_}};
  base::Subscription subscription_ = RegisterPolicyMetrics(enforcer_, registry_);
};

TEST_F(PolicyMetricsTest, EverySeriesIsThereFromTheStart) {
  const std::string text = registry_.Serialize();
  for (const char* reason : {"Paused", "SourcePaused", "OutsideMaintenanceWindow", "MinInterval",
                             "StoppedAfterFailures", "Order", "ConcurrencyLimit", "Unhealthy"}) {
    EXPECT_NE(text.find("kubexx_reloader_rollouts_held{reason=\"" + std::string(reason) + "\"} 0"),
              std::string::npos)
        << reason;
  }
}

TEST_F(PolicyMetricsTest, CountsWhatWaitsAndWhatIsUnderWay) {
  enforcer_.SetPolicy({.id = {"shop", "p"}, .settings = {.max_in_namespace = 1}});
  EXPECT_TRUE(Admit("a"));
  EXPECT_FALSE(Admit("b"));
  EXPECT_FALSE(Admit("c"));
  EXPECT_FALSE(Admit("d", {{"reloader.kubexx.io/paused", "true"}}));
  EXPECT_EQ(Value("rollouts_active"), 1);
  EXPECT_EQ(Held("ConcurrencyLimit"), 2);
  EXPECT_EQ(Held("Paused"), 1) << "an annotation's, too";
  EXPECT_EQ(Value("policies"), 1);
  EXPECT_EQ(Value("policies_invalid"), 0);
}

TEST_F(PolicyMetricsTest, CountsFailuresAndStops) {
  enforcer_.SetPolicy(
      {.id = {"shop", "p"},
       .settings = {.health_timeout = std::chrono::minutes(1), .stop_after_failures = 1},
       .problems = {"minInterval: what?"}});
  EXPECT_TRUE(Admit("a"));
  const Workload rolled{.id = {WorkloadKind::kDeployment, {"shop", "a"}},
                        .annotations = {{std::string(reloadpolicy::kLastRolloutAnnotation),
                                         apimachinery::Time::From(clock_.Wall()).ToString()}},
                        .phase = Phase::kUpdating};
  enforcer_.OnWorkload(rolled.id, &rolled);
  clock_.Advance(std::chrono::minutes(2));
  EXPECT_FALSE(Admit("b"));
  EXPECT_EQ(Value("rollouts_failed"), 1);
  EXPECT_EQ(Value("rollouts_active"), 0);
  EXPECT_EQ(Value("policies_stopped"), 1);
  EXPECT_EQ(Value("policies_invalid"), 1);
  EXPECT_EQ(Held("StoppedAfterFailures"), 1);
}

}  // namespace
}  // namespace kubexx::reloader
