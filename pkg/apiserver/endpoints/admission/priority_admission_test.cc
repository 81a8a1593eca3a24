#include "kubexx/apiserver/endpoints/admission/priority_admission.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kRankedPods = "/api/v1/namespaces/default/pods";
constexpr const char* kRanks = "/apis/scheduling.k8s.io/v1/priorityclasses";

class PriorityTest : public testing::ApiFixture {
 protected:
  http::Response Make(const std::string& name, const std::string& spec = {}) {
    return Do("POST", kRankedPods,
              R"({"metadata":{"name":")" + name +
                  R"("},"spec":{"containers":[{"name":"c","image":"i"}])" + spec + "}}");
  }
  http::Response MakeClass(const std::string& name, const std::string& fields) {
    return Do("POST", kRanks, R"({"metadata":{"name":")" + name + "\"}," + fields + "}");
  }
  // The name of a pod's class, its priority and its preemption policy.
  static std::string Rank(const http::Response& response) {
    const JsonTree pod = Json(response);
    const JsonTree* const name = pod.At({"spec", "priorityClassName"});
    const JsonTree* const priority = pod.At({"spec", "priority"});
    return (name == nullptr ? "" : std::string(*name->AsString())) + " " +
           (priority == nullptr ? "none" : priority->ToJson()) + " " +
           At(pod, {"spec", "preemptionPolicy"});
  }
};

TEST_F(PriorityTest, IsThatOfTheClass) {
  EXPECT_EQ(Rank(Make("plain")), " 0 PreemptLowerPriority");
  ASSERT_EQ(MakeClass("hi", R"("value":1000,"preemptionPolicy":"Never")").status, 201);
  EXPECT_EQ(Rank(Make("hi", R"(,"priorityClassName":"hi")")), "hi 1000 Never");
  EXPECT_EQ(Rank(Make("node", R"(,"priorityClassName":"system-node-critical")")),
            "system-node-critical 2000001000 PreemptLowerPriority");
  EXPECT_EQ(Rank(Make("same", R"(,"priorityClassName":"hi","priority":1000)")), "hi 1000 Never");
  ASSERT_EQ(MakeClass("usual", R"("value":5,"globalDefault":true)").status, 201);
  EXPECT_EQ(Rank(Make("usual")), "usual 5 PreemptLowerPriority");
}

TEST_F(PriorityTest, WhatItsClassSaysOtherwiseIsRefused) {
  const auto none = Make("none", R"(,"priorityClassName":"none")");
  EXPECT_EQ(none.status, 403);
  EXPECT_THAT(none.body, HasSubstr("no PriorityClass with name none was found"));
  const auto other = Make("other", R"(,"priority":7)");
  EXPECT_EQ(other.status, 403);
  EXPECT_THAT(other.body, HasSubstr("the integer value of priority (7) must not be provided"));
  EXPECT_EQ(Make("never", R"(,"preemptionPolicy":"Never")").status, 403);
}

TEST_F(PriorityTest, StaysWhenThePodIsWrittenAgain) {
  ASSERT_EQ(MakeClass("hi", R"("value":1000)").status, 201);
  JsonTree pod = Json(Make("p", R"(,"priorityClassName":"hi")"));
  pod["spec"].Erase("priority");
  pod["spec"].Erase("preemptionPolicy");
  pod["metadata"].Erase("resourceVersion");
  EXPECT_EQ(Rank(Do("PUT", std::string(kRankedPods) + "/p", pod.ToJson())),
            "hi 1000 PreemptLowerPriority");
}

TEST_F(PriorityTest, OnlyOneClassIsTheDefault) {
  ASSERT_EQ(MakeClass("one", R"("value":1,"globalDefault":true)").status, 201);
  const auto other = MakeClass("two", R"("value":2,"globalDefault":true)");
  EXPECT_EQ(other.status, 403);
  EXPECT_THAT(other.body, HasSubstr("PriorityClass one is already marked as default"));
  EXPECT_EQ(Do("PATCH", std::string(kRanks) + "/one", R"({"description":"d"})",
               "application/merge-patch+json")
                .status,
            200);
}

}  // namespace
}  // namespace kubexx::apiserver
