// Tests the operator when only those keys of a source count that a workload uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using testing::HasSubstr;
using testing::Not;

/// A Deployment of which a variable uses one key of the ConfigMap "config", and an operator.
class UsedKeysTest : public OperatorTest {
 protected:
  UsedKeysTest() {
    gate_ = &enforcer_;
    recording_ = BaselineRecording::kAlways;
    fetch_values_ =
        [this](const SourceId&,
               const std::stop_token&) -> apimachinery::Result<std::optional<ValueDigests>> {
      const base::MutexLock lock(mu_);
      return ValueDigestsOf(config_);
    };
  }
  ~UsedKeysTest() override { operator_.reset(); }

  void PutData(std::map<std::string, std::string> data) {
    const base::MutexLock lock(mu_);
    config_.metadata.namespace_ = "ns";
    config_.metadata.name = "config";
    config_.data = std::move(data);
    Put(*config_maps_, config_);
  }
  /// Changes the data, and lets the operator look at it.
  void Change(std::map<std::string, std::string> data) {
    PutData(std::move(data));
    AwaitEvents("configmaps", "update", ++updates_);
    Settle();
  }
  static apps::Deployment Using(const std::string& key) {
    apps::Deployment web = Web();
    api::core::v1::Container& container = web.spec.template_.spec.containers[0];
    container.env_from.clear();
    container.env.push_back({.name = "A"});
    auto& ref = container.env.back().value_from.emplace().config_map_key_ref.emplace();
    ref.local_object_reference.name = "config";
    ref.key = key;
    return web;
  }
  static std::string DigestOfKeys(const std::map<std::string, std::string>& data,
                                  std::string_view keys) {
    api::core::v1::ConfigMap config_map;
    config_map.data = data;
    return DigestOver(ValueDigestsOf(config_map), keys).ToString();
  }
  void SayReferenced() {
    enforcer_.SetPolicy(
        {.id = {"ns", "precise"}, .settings = {.keys = reloadpolicy::KeyScope::kReferenced}});
  }

  PolicyEnforcer enforcer_{PolicyEnforcer::Options{.clock = clock_}};
  base::Mutex mu_;
  api::core::v1::ConfigMap config_;
  double updates_ = 0;
};

TEST_F(UsedKeysTest, AKeyThatIsNotUsedRollsNothing) {
  SayReferenced();
  PutData({{"a", "1"}, {"b", "1"}});
  Put(*deployments_, Using("a"));
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.AwaitRecords(1)[0].baseline, HasSubstr(":a"));
  Change({{"a", "1"}, {"b", "2"}});
  AwaitReconciles("skipped", 2);
  EXPECT_TRUE(writer_.calls().empty());
  Change({{"a", "2"}, {"b", "2"}});
  const auto calls = writer_.Await(1);
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestOfKeys({{"a", "2"}}, "a")));
  EXPECT_THAT(calls[0].baseline, HasSubstr(DigestOfKeys({{"a", "2"}}, "a") + ":a"));
}

TEST_F(UsedKeysTest, SwitchingItOnAndOffRollsNothing) {
  PutData({{"a", "1"}, {"b", "1"}});
  Put(*deployments_, Using("a"));
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.AwaitRecords(1)[0].baseline, Not(HasSubstr(":a")));
  SayReferenced();  // this makes it look at the workload, because no event does
  Settle();
  AwaitReconciles("skipped", 2);
  Change({{"a", "1"}, {"b", "2"}});
  AwaitReconciles("skipped", 3);
  enforcer_.RemovePolicy({"ns", "precise"});
  Settle();
  AwaitReconciles("skipped", 4);
  EXPECT_TRUE(writer_.calls().empty());
  Change({{"a", "1"}, {"b", "3"}});
  EXPECT_EQ(writer_.Await(1).size(), 1U) << "all keys count again";
}

// The source's own list names b until the policy is enforced.
TEST_F(UsedKeysTest, AChangeOfAKeyThatAnEnforcedPolicyMakesCountRolls) {
  reloadpolicy::Policy policy{.id = {"", "platform"},
                              .sources = {{.kind = "ConfigMap", .name = "config", .keys = "a"}}};
  enforcer_.SetPolicy(policy);
  config_.metadata.annotations[std::string(kSourceKeys)] = "b";
  PutData({{"a", "1"}, {"b", "1"}});
  Put(*deployments_, Web());
  StartOperator();
  Settle();
  writer_.AwaitRecords(1);
  policy.enforced = true;
  enforcer_.SetPolicy(policy);
  Settle();
  Change({{"a", "2"}, {"b", "1"}});
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOfKeys({{"a", "2"}}, "a")));
}

TEST_F(UsedKeysTest, WithoutItAllKeysCount) {
  PutData({{"a", "1"}, {"b", "1"}});
  Put(*deployments_, Using("a"));
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  Change({{"a", "1"}, {"b", "2"}});
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOf("a=1;b=2").ToString()));
}

}  // namespace
}  // namespace kubexx::reloader
