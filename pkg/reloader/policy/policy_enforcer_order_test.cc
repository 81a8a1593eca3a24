// Tests how an enforcer finds out which workloads with a lower order come first.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// "web", which a policy rolls after "db", when the ConfigMap has changed that both use.
class PolicyEnforcerOrderTest : public testing::Test {
 protected:
  PolicyEnforcerOrderTest() {
    for (const char* name : {"db", "web"}) {
      deployments_->PutObject(
          {.encoding = codec::Encoding::kJson,
           .bytes = R"({"metadata":{"namespace":"shop","name":")" + std::string(name) +
                    R"(","uid":"u","annotations":{"reloader.stakater.com/auto":"true"}},)" +
                    R"("spec":{"template":{"spec":{"containers":[{"name":"app",)" +
                    R"("envFrom":[{"configMapRef":{"name":"config"}}]}]}}}})",
           .key = {"shop", name}});
    }
    InformerSet set;
    set.workloads[WorkloadKind::kDeployment] = NewTestInformer(
        deployments_,
        cache::InformerOptions{.clock = informer_clock_,
                               .transform = TransformFor(WorkloadKind::kDeployment, {})});
    caches_ = std::make_unique<Caches>(std::vector{set}, rules_);
    caches_->Start();
    EXPECT_TRUE(caches_->WaitForWorkloads({}));
    attached_ = enforcer_.Attach(
        {.caches = *caches_,
         .wake = [this](const WorkloadId& id,
                        base::Duration after) { wakes_[id.key.name].push_back(after); },
         .needs_rollout = [this](const Workload& workload,
                                 const SourceId&) { return needs_rollout_(workload); }});
    enforcer_.SetPolicy({.id = {"shop", "p"}, .order = {{{"web"}, 1}}});
  }
  ~PolicyEnforcerOrderTest() override { caches_->Stop(); }

  Workload Get(const std::string& name) const {
    return *caches_->GetWorkload({WorkloadKind::kDeployment, {"shop", name}});
  }
  bool Admit(const Workload& workload) {
    std::vector<Change> changes{{.container = "app",
                                 .variable = "V",
                                 .causes = {{SourceType::kConfigMap, {"shop", "config"}}}}};
    AnnotationEdits annotations;
    return enforcer_.Admit(workload, changes, annotations);
  }

  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  const DecisionRules rules_;
  const std::shared_ptr<cache::testing::FakeSource> deployments_ =
      std::make_shared<cache::testing::FakeSource>();
  std::unique_ptr<Caches> caches_;
  std::map<std::string, std::vector<base::Duration>> wakes_;
  std::function<bool(const Workload&)> needs_rollout_;
  PolicyEnforcer enforcer_{{.clock = clock_}};
  base::Subscription attached_;
};

TEST_F(PolicyEnforcerOrderTest, OneThatBeginsWhileItIsLookedAtStillComesFirst) {
  bool has_begun = false;
  needs_rollout_ = [&](const Workload& workload) {
    if (workload.id.key.name == "db" && !has_begun) {
      has_begun = true;
      EXPECT_TRUE(Admit(workload));  // another worker rolls it now
    }
    return false;
  };
  EXPECT_FALSE(Admit(Get("web"))) << "db has begun, and is not healthy yet";
  EXPECT_TRUE(has_begun);
}

// Nothing would have woken it.
TEST_F(PolicyEnforcerOrderTest, OneThatEndsWhileItIsLookedAtIsNotWaitedFor) {
  bool needs_rollout = true;
  needs_rollout_ = [&](const Workload& workload) {
    if (workload.id.key.name != "db" || !needs_rollout) {
      return false;
    }
    needs_rollout = false;
    enforcer_.OnUpToDate(Get("db"));  // another worker finds that now
    return true;
  };
  EXPECT_TRUE(Admit(Get("web")));
}

// It is followed, and yet nothing of it would wake those who wait.
TEST_F(PolicyEnforcerOrderTest, OneThatIsPausedAndNeedsARolloutNoMoreIsNotWaitedFor) {
  needs_rollout_ = [](const Workload&) { return false; };
  Workload db = Get("db");
  std::vector<Change> changes{{.container = "app", .variable = "V"}};
  AnnotationEdits annotations;
  ASSERT_TRUE(enforcer_.Admit(db, changes, annotations));
  for (const auto& [key, value] : annotations) {
    db.annotations[key] = value.value_or("");
  }
  db.phase = reloadpolicy::Phase::kPaused;
  enforcer_.OnWorkload(db.id, &db);
  bool is_asked = false;
  needs_rollout_ = [&](const Workload& workload) {
    return workload.id.key.name == "db" && !std::exchange(is_asked, true);
  };
  EXPECT_TRUE(Admit(Get("web")));
  EXPECT_TRUE(is_asked);
}

TEST_F(PolicyEnforcerOrderTest, OneThatNeedsNoRolloutAnyMoreWakesWhoWaitsForIt) {
  bool needs_rollout = true;
  needs_rollout_ = [&](const Workload& workload) {
    return needs_rollout && workload.id.key.name == "db";
  };
  EXPECT_FALSE(Admit(Get("web")));
  EXPECT_THAT(wakes_["web"], ElementsAre(base::Duration(10min)));
  needs_rollout = false;  // it was reloaded in place
  enforcer_.OnUpToDate(Get("db"));
  EXPECT_THAT(wakes_["web"], ElementsAre(base::Duration(10min), base::Duration(0)));
  EXPECT_TRUE(Admit(Get("web")));
}

}  // namespace
}  // namespace kubexx::reloader
