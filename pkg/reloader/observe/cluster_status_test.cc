#include "kubexx/reloader/observe/cluster_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kubexx/codec/codec.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Not;

PolicyStanding StandingFrom(const std::string& json) {
  const auto policy = codec::DecodeJson<reloadpolicy::v1alpha1::ReloadPolicy>(json);
  EXPECT_TRUE(policy) << json;
  return policy ? StandingOf(*policy) : PolicyStanding();
}

constexpr char kBusyPolicy[] = R"({"metadata":{"namespace":"shop","name":"gentle","generation":3},
  "spec":{"paused":true},"status":{"observedGeneration":3,"active":1,"pending":2,"failed":1,
  "conditions":[{"type":"Ready","status":"False","reason":"Invalid","message":"spec.order: bad"},
                {"type":"Stopped","status":"True","reason":"TooManyFailures","message":"1 failed"}],
  "pendingRollouts":[{"workload":"Deployment/web","reason":"ConcurrencyLimit",
                      "message":"1 at a time","since":"2026-11-18T10:26:40Z"}],
  "failedRollouts":[{"workload":"Deployment/api","uid":"u","rolledAt":"2026-11-18T10:00:00Z"}]}})";

TEST(ClusterStatus, TellsWhatAPolicyHoldsBack) {
  const std::string text =
      ToText(ClusterStatus{.operators = {"ops/reloader"}, .policies = {StandingFrom(kBusyPolicy)}});
  EXPECT_THAT(text, HasSubstr("Operator: Deployment ops/reloader\n"));
  EXPECT_THAT(ToText(ClusterStatus{.operators = {"ops/"}, .not_installed = {"ReloadPolicies"}}),
              AllOf(HasSubstr("Operator: in namespace ops\n"),
                    HasSubstr("ReloadPolicies: their CRD is not installed, so there are none\n")));
  EXPECT_THAT(text, HasSubstr("ReloadPolicy shop/gentle: paused; 1 under way, 2 wait, 1 failed\n"));
  EXPECT_THAT(text, HasSubstr("    cannot be understood: spec.order: bad\n"));
  EXPECT_THAT(text, HasSubstr("    stopped: 1 failed\n"));
  EXPECT_THAT(text, HasSubstr("    Deployment/web waits since 2026-11-18T10:26:40Z: "
                              "ConcurrencyLimit: 1 at a time\n"));
  EXPECT_THAT(
      text,
      HasSubstr("    Deployment/api has failed, and has not been healthy since; rolled last at "
                "2026-11-18T10:00:00Z\n"));
}

TEST(ClusterStatus, TellsOfFailuresInWavesAndOfRestores) {
  const auto with = [](const std::string& status, const std::string& reason) {
    return StandingFrom(
        R"({"metadata":{"namespace":"shop","name":"careful","generation":1},"spec":{},"status":{)"
        R"("observedGeneration":1,"failedWaves":[{"workload":"Deployment/canary","uid":"u",)"
        R"("data":["ConfigMap/config=1","ConfigMap/config=2","Secret/key=3"],)"
        R"("since":"2026-11-18T10:00:00Z"}],"conditions":[{"type":"Restored","status":")" +
        status + R"(","reason":")" + reason + R"(","message":"the message"}]}})");
  };
  const PolicyStanding held = with("False", "NoSnapshot");
  EXPECT_THAT(ToText({.policies = {held}}),
              AllOf(HasSubstr("    Deployment/canary has failed in a wave since "
                              "2026-11-18T10:00:00Z for ConfigMap/config, Secret/key, which"),
                    HasSubstr("    not restored: NoSnapshot: the message\n"),
                    Not(HasSubstr("    restored:"))));
  EXPECT_THAT(ToText({.policies = {with("True", "Restored")}}),
              AllOf(HasSubstr("    restored: the message\n"), Not(HasSubstr("not restored"))));
  EXPECT_THAT(ToText({.policies = {with("False", "NothingToRestore")}}),
              Not(HasSubstr("restored")));
  EXPECT_THAT(ToJson({.policies = {held}}),
              HasSubstr(R"("failedWaves":[{"workload":"Deployment/canary",)"
                        R"("sources":["ConfigMap/config","Secret/key"],)"
                        R"("since":"2026-11-18T10:00:00Z"}],"restored":"",)"
                        R"("notRestored":"NoSnapshot: the message")"));
}

TEST(ClusterStatus, IsToldToPrograms) {
  const std::string json = ToJson(
      ClusterStatus{.policies = {StandingFrom(kBusyPolicy)}, .unknown = {"ClusterReloadPolicies"}});
  EXPECT_THAT(json, HasSubstr(R"("policy":"ReloadPolicy shop/gentle","seen":true,"paused":true)"));
  EXPECT_THAT(json, HasSubstr(R"("waiting":[{"workload":"Deployment/web")"));
  EXPECT_THAT(json, HasSubstr(R"("unknown":["ClusterReloadPolicies"])"));
}

TEST(ClusterStatus, SaysWhenNobodyHasLookedAtAPolicy) {
  EXPECT_THAT(ToText({.policies = {StandingFrom(R"({"metadata":{"namespace":"a","name":"b",
                  "generation":2},"spec":{},"status":{"observedGeneration":1}})")}}),
              HasSubstr("no operator has looked at its present state"));
  EXPECT_THAT(
      ToText({.policies = {StandingFrom(
                  R"({"metadata":{"namespace":"a","name":"b","generation":1},"spec":{}})")}}),
      HasSubstr("no operator has looked at its present state"));
  EXPECT_THAT(ToText({.policies = {StandingFrom(kBusyPolicy)}}),
              Not(HasSubstr("no operator has looked")));
  EXPECT_THAT(ToText({}), HasSubstr("Policies: none\n"));
}

TEST(ClusterStatus, NamesAPolicyOfTheCluster) {
  const auto policy = codec::DecodeJson<reloadpolicy::v1alpha1::ClusterReloadPolicy>(
      R"({"metadata":{"name":"platform"},"spec":{},"status":{"observedGeneration":0,"pending":1}})");
  ASSERT_TRUE(policy);
  EXPECT_THAT(ToText({.policies = {StandingOf(*policy)}}),
              HasSubstr("ClusterReloadPolicy platform: 0 under way, 1 waits, 0 failed\n"));
}

}  // namespace
}  // namespace kubexx::reloader
