// Tests evictions and the disruption budgets that they ask.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kEvictedPods = "/api/v1/namespaces/default/pods";
constexpr const char* kEvictedPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
constexpr const char* kBudget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b";

class EvictionTest : public testing::ApiFixture {
 protected:
  EvictionTest() {
    EXPECT_EQ(Do("POST", kEvictedPods,
                 R"({"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n",
                     "containers":[{"name":"c","image":"i"}]}})")
                  .status,
              201);
  }
  /// Makes the pod run.
  void Run(bool ready) {
    ASSERT_EQ(Do("PATCH", std::string(kEvictedPod) + "/status",
                 std::string(R"({"status":{"phase":"Running","conditions":[
                     {"type":"Ready","status":")") +
                     (ready ? "True" : "False") + R"("}]}})",
                 kMergePatch)
                  .status,
              200);
  }
  void MakeBudget(const std::string& policy, const std::string& status) {
    ASSERT_EQ(Do(
                  "POST", kBudgets, R"({"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":
                 {"a":"b"}})" + policy + "}}")
                  .status,
              201);
    const http::Response set =
        Do("PATCH", std::string(kBudget) + "/status",
           R"({"status":{"observedGeneration":1,)" + status + "}}", kMergePatch);
    ASSERT_EQ(set.status, 200) << set.body;
  }
  http::Response Evict(const std::string& options = {}) {
    return Do(
        "POST", std::string(kEvictedPod) + "/eviction",
        R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"})" + options + "}");
  }
  std::string Left() { return At(Json(Do("GET", kBudget)), {"status", "disruptionsAllowed"}); }
};

TEST_F(EvictionTest, TellsThePodWhyItGoes) {
  Run(true);
  EXPECT_EQ(Evict().status, 201);
  const codec::JsonTree pod = Json(Do("GET", kEvictedPod));
  EXPECT_NE(At(pod, {"metadata", "deletionTimestamp"}), "");
  const codec::JsonTree& condition = pod.At({"status", "conditions"})->elements()[1];
  EXPECT_EQ(condition.TextAt("type"), "DisruptionTarget");
  EXPECT_EQ(condition.TextAt("reason"), "EvictionByEvictionAPI");
}

TEST_F(EvictionTest, ADryRunChangesNothing) {
  Run(true);
  EXPECT_EQ(Evict(R"(,"deleteOptions":{"dryRun":["All"]})").status, 201);
  EXPECT_EQ(Json(Do("GET", kEvictedPod)).At({"status", "conditions"})->size(), 1U);
}

TEST_F(EvictionTest, APodThatIsReadyCostsADisruption) {
  Run(true);
  MakeBudget("",
             R"("disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2)");
  EXPECT_EQ(Evict(R"(,"deleteOptions":{"preconditions":{"uid":"other"}})").status, 409);
  EXPECT_EQ(Left(), "1") << "nothing went";
  EXPECT_EQ(Evict().status, 201);
  EXPECT_EQ(Left(), "0");
}

TEST_F(EvictionTest, APodThatIsNotReadyGoesFreelyWhenTheOthersAreEnough) {
  Run(false);
  MakeBudget("",
             R"("disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":2)");
  EXPECT_EQ(Evict().status, 201);
  EXPECT_EQ(Left(), "0");
}

TEST_F(EvictionTest, WhenTheyAreNotItStays) {
  Run(false);
  MakeBudget("",
             R"("disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":1,"expectedPods":2)");
  EXPECT_EQ(Evict().status, 429);
}

TEST_F(EvictionTest, ABudgetMayLetGoWhatIsNotReady) {
  Run(false);
  MakeBudget(R"(,"unhealthyPodEvictionPolicy":"AlwaysAllow")",
             R"("disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":1,"expectedPods":2)");
  EXPECT_EQ(Evict().status, 201);
}

/// A budget that selects nothing would allow every eviction.
TEST_F(EvictionTest, ABudgetHasASelector) {
  const http::Response refused =
      Do("POST", kBudgets, R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":
          {"matchExpressions":[{"key":"a","operator":"=","values":["b"]}]}}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(At(Json(refused), {"details", "causes", "0", "field"}),
            "spec.selector.matchExpressions[0].operator");
}

}  // namespace
}  // namespace kubexx::apiserver
