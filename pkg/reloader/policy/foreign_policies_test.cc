#include "kubexx/reloader/policy/foreign_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// A workload of namespace "shop" names ConfigMap settings of "shared", where a policy pauses it.
class ForeignPoliciesTest : public testing::Test {
 protected:
  static ForeignPolicies::Found Pausing(bool paused, const std::string& version) {
    return {.policy = {.id = {"shared", "p"},
                       .sources = {{.kind = "ConfigMap", .name = "settings", .paused = paused}}},
            .version = version};
  }
  bool IsPaused() const {
    const SourceId settings = ForeignId(SourceType::kConfigMap, {"shared", "settings"}, "shop");
    return enforcer_.Snapshot().policies().SourcePause(ObjectRefOf(settings)).has_value();
  }
  bool Refresh() {
    clock_.Advance(std::chrono::minutes(1));
    return policies_.Refresh(1, [](const std::string&) { return true; }, {});
  }

  base::testing::FakeClock clock_;
  PolicyEnforcer enforcer_{{.clock = clock_}};
  Result<std::vector<ForeignPolicies::Found>> listed_ = std::vector{Pausing(true, "u/1")};
  std::function<void()> while_listing_;  ///< called once
  ForeignPolicies policies_{enforcer_,
                            [this](const std::string& name, const std::stop_token&) {
                              EXPECT_EQ(name, "shared");
                              const auto answer = listed_;
                              if (const auto call = std::exchange(while_listing_, nullptr)) {
                                call();
                              }
                              return answer;
                            },
                            clock_};
};

TEST_F(ForeignPoliciesTest, TheEnforcerKnowsThem) {
  EXPECT_FALSE(IsPaused());
  EXPECT_TRUE(policies_.Read("shared", {}).value());
  EXPECT_TRUE(IsPaused());
  EXPECT_FALSE(Refresh()) << "nothing is otherwise";
  listed_ = std::vector{Pausing(false, "v/1")};
  EXPECT_TRUE(Refresh()) << "one that was made anew is another one";
  EXPECT_FALSE(IsPaused());
  listed_ = std::vector{Pausing(true, "v/2")};
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(IsPaused());
  listed_ = std::vector<ForeignPolicies::Found>();
  EXPECT_TRUE(Refresh());
  EXPECT_FALSE(IsPaused()) << "it is gone";
}

// It stayed for good: the versions that were told of later were those of the later answer.
TEST_F(ForeignPoliciesTest, AnAnswerThatComesLateDoesNotReplaceALaterOne) {
  while_listing_ = [this] {
    listed_ = std::vector{Pausing(false, "u/2")};
    EXPECT_TRUE(policies_.Read("shared", {}).value());  // by another thread
  };
  EXPECT_TRUE(policies_.Read("shared", {}).value());
  EXPECT_FALSE(IsPaused());
  Refresh();
  EXPECT_FALSE(IsPaused());
}

TEST_F(ForeignPoliciesTest, SaysWhetherTheyMayBeRead) {
  listed_ = Fail(Reason::kForbidden,
                 R"(reloadpolicies.kubexx.io is forbidden: User "anna" cannot )"
                 R"(list resource "reloadpolicies")",
                 403);
  EXPECT_FALSE(policies_.Read("shared", {}).value());
  listed_ = std::vector{Pausing(true, "u/1")};
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(policies_.Read("shared", {}).value());
  listed_ = Fail(Reason::kTimeout, "late");
  EXPECT_FALSE(Refresh());
  EXPECT_FALSE(policies_.Read("shared", {})) << "that says nothing of rights";
  EXPECT_TRUE(IsPaused()) << "as far as is known";
}

}  // namespace
}  // namespace kubexx::reloader
