#include "kubexx/apiserver/endpoints/store/deletion.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using testing::kPods;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

class DeletionTest : public testing::ApiFixture {
 protected:
  void MakePod(const std::string& name, const std::string& node, const std::string& labels = "{}") {
    const std::string spec = node.empty() ? "" : R"("nodeName":")" + node + "\",";
    const http::Response made =
        Do("POST", kPods,
           R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + R"(},"spec":{)" + spec +
               R"("containers":[{"name":"a","image":"a"}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  std::string Pod(const std::string& name) const { return std::string(kPods) + "/" + name; }
};

TEST_F(DeletionTest, PropagationSetsFinalizers) {
  for (const auto& [policy, finalizer] :
       {std::pair("Foreground", "foregroundDeletion"), {"Orphan", "orphan"}}) {
    const std::string name = *policy == 'F' ? "f" : "o";
    ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":")" + name + "\"}}").status, 201);
    const http::Response deleted = Do("DELETE", std::string(kConfigMaps) + "/" + name,
                                      R"({"propagationPolicy":")" + std::string(policy) + "\"}");
    EXPECT_EQ(deleted.status, 200);
    EXPECT_EQ(At(Json(deleted), {"metadata", "finalizers", "0"}), finalizer);
    EXPECT_NE(At(Json(deleted), {"metadata", "deletionTimestamp"}), "");
    EXPECT_EQ(Do("PATCH", std::string(kConfigMaps) + "/" + name,
                 R"({"metadata":{"finalizers":null}})", "application/merge-patch+json")
                  .status,
              200);
    EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/" + name).status, 404);
  }
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"b"}})").status, 201);
  EXPECT_EQ(Do("DELETE", std::string(kConfigMaps) + "/b?propagationPolicy=Background").status, 200);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/b").status, 404);
}

TEST_F(DeletionTest, EventsWaitForNoGarbageCollector) {
  const std::string events = "/api/v1/namespaces/default/events";
  ASSERT_EQ(
      Do("POST", events, R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}})")
          .status,
      201);
  EXPECT_EQ(Do("DELETE", events + "/e?propagationPolicy=Foreground").status, 200);
  EXPECT_EQ(Do("GET", events + "/e").status, 404);
}

TEST_F(DeletionTest, WhatAJobOwnsStaysUnlessSomebodySaysOtherwise) {
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  for (const std::string name : {"silent", "asked", "told"}) {
    ASSERT_EQ(Do("POST", jobs,
                 R"({"metadata":{"name":")" + name +
                     R"("},"spec":{"template":{"spec":{"restartPolicy":"Never",)"
                     R"("containers":[{"name":"a","image":"a"}]}}}})")
                  .status,
              201);
  }
  EXPECT_EQ(At(Json(Do("DELETE", jobs + "/silent")), {"metadata", "finalizers", "0"}), "orphan");
  EXPECT_EQ(Do("DELETE", jobs + "/told?propagationPolicy=Background").status, 200);
  EXPECT_EQ(Do("GET", jobs + "/told").status, 404);
  ASSERT_EQ(Do("PATCH", jobs + "/asked", R"({"metadata":{"finalizers":["foregroundDeletion"]}})",
               "application/merge-patch+json")
                .status,
            200);
  const http::Response asked = Do("DELETE", jobs + "/asked");
  EXPECT_EQ(At(Json(asked), {"metadata", "finalizers", "0"}), "foregroundDeletion");
  EXPECT_EQ(At(Json(asked), {"metadata", "finalizers", "1"}), "");
}

TEST_F(DeletionTest, ACollectionIsThatOfOneNamespace) {
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"m"}})").status, 201);
  EXPECT_EQ(Do("DELETE", "/api/v1/configmaps").status, 405);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/m").status, 200);
  EXPECT_EQ(Do("DELETE", kConfigMaps).status, 200);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/m").status, 404);
}

TEST_F(DeletionTest, ACollectionIsDeletedPageByPage) {
  const auto names = [](const JsonTree& list) {
    std::string all;
    for (const JsonTree& item : list.Find("items")->elements()) {
      all += At(item, {"metadata", "name"}) + " ";
    }
    return all;
  };
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    ASSERT_EQ(
        Do("POST", kConfigMaps, R"({"metadata":{"name":")" + std::string(name) + "\"}}").status,
        201);
  }
  const std::string path = kConfigMaps;
  const JsonTree first = Json(Do("DELETE", path + "?limit=2"));
  EXPECT_EQ(names(first), "a b ");
  EXPECT_EQ(At(first, {"metadata", "remainingItemCount"}), "3");
  const std::string token = At(first, {"metadata", "continue"});
  ASSERT_NE(token, "");
  // Made meanwhile: the token is of the state in which it was not there.
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"c1"}})").status, 201);
  EXPECT_EQ(names(Json(Do("GET", path))), "c c1 d e ");
  const JsonTree second = Json(Do("DELETE", path + "?limit=2&continue=" + token));
  EXPECT_EQ(names(second), "c d ");
  EXPECT_EQ(names(Json(Do("GET", path))), "c1 e ");
  const http::Response bad = Do("DELETE", path + "?continue=garbage");
  EXPECT_EQ(bad.status, 400) << bad.body;
  EXPECT_EQ(names(Json(Do("GET", path))), "c1 e ");
  // Without a limit the rest goes, however many pages that are.
  const std::string next = At(second, {"metadata", "continue"});
  const JsonTree last = Json(Do("DELETE", path + "?continue=" + next));
  EXPECT_EQ(names(last), "e ");
  EXPECT_EQ(At(last, {"metadata", "continue"}), "");
  EXPECT_EQ(names(Json(Do("GET", path))), "c1 ");
}

TEST_F(DeletionTest, APageOfACollectionIsOfWhatIsSelected) {
  for (const char* const name : {"a", "b", "c", "d"}) {
    const std::string label = *name == 'b' ? "no" : "yes";
    ASSERT_EQ(Do("POST", kConfigMaps,
                 R"({"metadata":{"name":")" + std::string(name) + R"(","labels":{"l":")" + label +
                     "\"}}}")
                  .status,
              201);
  }
  const std::string path = std::string(kConfigMaps) + "?labelSelector=l%3Dyes&limit=2";
  const JsonTree first = Json(Do("DELETE", path));
  EXPECT_EQ(first.Find("items")->size(), 2U);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/c").status, 404);
  const std::string token = At(first, {"metadata", "continue"});
  ASSERT_NE(token, "");
  EXPECT_EQ(Json(Do("DELETE", path + "&continue=" + token)).Find("items")->size(), 1U);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/b").status, 200);
  EXPECT_EQ(Do("GET", std::string(kConfigMaps) + "/d").status, 404);
}

TEST_F(DeletionTest, OnlyGoodVersionsSelectACollection) {
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"m"}})").status, 201);
  const std::string path = kConfigMaps;
  EXPECT_EQ(Do("DELETE", path + "?resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(Do("DELETE", path + "?resourceVersion=x").status, 400);
  EXPECT_EQ(Do("GET", path + "/m").status, 200);
  EXPECT_EQ(Do("DELETE", path + "?resourceVersion=0").status, 200);
  EXPECT_EQ(Do("GET", path + "/m").status, 404);
}

TEST_F(DeletionTest, ALaterPolicyReplacesAnEarlierOne) {
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"m"}})").status, 201);
  const std::string path = std::string(kConfigMaps) + "/m";
  EXPECT_EQ(Do("DELETE", path, R"({"propagationPolicy":"Foreground"})").status, 200);
  EXPECT_EQ(
      At(Json(Do("DELETE", path, R"({"propagationPolicy":"Orphan"})")), {"metadata", "finalizers"}),
      R"(["orphan"])");
  EXPECT_EQ(Do("DELETE", path, R"({"propagationPolicy":"Background"})").status, 200);
  EXPECT_EQ(Do("GET", path).status, 404);
}

TEST_F(DeletionTest, UnknownPoliciesAreRefused) {
  ASSERT_EQ(Do("POST", kConfigMaps, R"({"metadata":{"name":"m"}})").status, 201);
  const std::string path = std::string(kConfigMaps) + "/m";
  EXPECT_EQ(Do("DELETE", path, R"({"propagationPolicy":"Sideways"})").status, 422);
  EXPECT_EQ(Do("DELETE", path, R"({"propagationPolicy":"Orphan","orphanDependents":true})").status,
            422);
}

TEST_F(DeletionTest, PodsOnANodeGetTheirGracePeriod) {
  MakePod("p", "n");
  const JsonTree marked = Json(Do("DELETE", Pod("p")));
  EXPECT_EQ(At(marked, {"metadata", "deletionGracePeriodSeconds"}), "30");
  EXPECT_EQ(At(Json(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":60})")),
               {"metadata", "deletionGracePeriodSeconds"}),
            "30");
  const JsonTree shorter = Json(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":5})"));
  EXPECT_EQ(At(shorter, {"metadata", "deletionGracePeriodSeconds"}), "5");
  EXPECT_LT(At(shorter, {"metadata", "deletionTimestamp"}),
            At(marked, {"metadata", "deletionTimestamp"}));
  EXPECT_EQ(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(Do("GET", Pod("p")).status, 404);
}

TEST_F(DeletionTest, ANegativeGracePeriodIsASecond) {
  MakePod("p", "n");
  EXPECT_EQ(Do("DELETE", Pod("p")).status, 200);
  for (int i = 0; i < 2; ++i) {
    const JsonTree shorter = Json(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":-1})"));
    EXPECT_EQ(At(shorter, {"metadata", "deletionGracePeriodSeconds"}), "1");
  }
  EXPECT_EQ(Do("GET", Pod("p")).status, 200);
}

TEST_F(DeletionTest, AGracePeriodEndsAtATimeThatThereIs) {
  MakePod("p", "n");
  const JsonTree marked =
      Json(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":9223372036854775807})"));
  const std::string end = At(marked, {"metadata", "deletionTimestamp"});
  EXPECT_TRUE(end.starts_with("21")) << end;
}

TEST_F(DeletionTest, OtherPodsGoAtOnce) {
  MakePod("p", "");
  EXPECT_EQ(Do("DELETE", Pod("p")).status, 200);
  EXPECT_EQ(Do("GET", Pod("p")).status, 404);
  MakePod("ended", "n");
  EXPECT_EQ(Do("PATCH", Pod("ended") + "/status", R"({"status":{"phase":"Succeeded"}})",
               "application/merge-patch+json")
                .status,
            200);
  EXPECT_EQ(Do("DELETE", Pod("ended")).status, 200);
  EXPECT_EQ(Do("GET", Pod("ended")).status, 404);
}

TEST_F(DeletionTest, FinalizersOutliveTheGracePeriod) {
  MakePod("p", "n");
  EXPECT_EQ(Do("PATCH", Pod("p"), R"({"metadata":{"finalizers":["example.com/f"]}})",
               "application/merge-patch+json")
                .status,
            200);
  EXPECT_EQ(Do("DELETE", Pod("p"), R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(Do("GET", Pod("p")).status, 200);
  EXPECT_EQ(
      Do("PATCH", Pod("p"), R"({"metadata":{"finalizers":null}})", "application/merge-patch+json")
          .status,
      200);
  EXPECT_EQ(Do("GET", Pod("p")).status, 404);
}

TEST_F(DeletionTest, BindingsGivePodsTheirNode) {
  MakePod("p", "");
  const std::string path = Pod("p") + "/binding";
  const char* const binding = R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})";
  const http::Response bound = Do("POST", path, binding);
  EXPECT_EQ(bound.status, 201) << bound.body;
  const JsonTree pod = Json(Do("GET", Pod("p")));
  EXPECT_EQ(At(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(At(pod, {"status", "conditions", "0", "type"}), "PodScheduled");
  const http::Response again = Do("POST", path, binding);
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(Message(again), HasSubstr("already assigned to node \"n1\""));
  EXPECT_EQ(Do("POST", path, R"({"metadata":{"name":"p"},"target":{"name":""}})").status, 422);
  EXPECT_EQ(Do("GET", path).status, 405);
}

TEST_F(DeletionTest, BindingsAndEvictionsNameTheirPod) {
  MakePod("p", "");
  for (const char* const metadata : {"", R"("metadata":{},)", R"("metadata":{"name":"q"},)"}) {
    const std::string begin = "{" + std::string(metadata);
    EXPECT_EQ(
        Do("POST", Pod("p") + "/binding", begin + R"("target":{"kind":"Node","name":"n"}})").status,
        400)
        << metadata;
    EXPECT_EQ(Do("POST", Pod("p") + "/eviction", begin + R"("deleteOptions":{}})").status, 400)
        << metadata;
  }
  EXPECT_EQ(At(Json(Do("GET", Pod("p"))), {"spec", "nodeName"}), "");
}

TEST_F(DeletionTest, EvictionsAskTheBudget) {
  MakePod("p", "n", R"({"app":"web"})");
  EXPECT_EQ(Do("PATCH", Pod("p") + "/status", R"({"status":{"phase":"Running"}})",
               "application/merge-patch+json")
                .status,
            200);
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  ASSERT_EQ(
      Do("POST", budgets,
         R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}})")
          .status,
      201);
  const char* const eviction =
      R"({"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}})";
  const http::Response refused = Do("POST", Pod("p") + "/eviction", eviction);
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(At(Json(refused), {"details", "causes", "0", "reason"}), "DisruptionBudget");
  EXPECT_EQ(Do("PATCH", budgets + "/b/status",
               R"({"status":{"disruptionsAllowed":1,"observedGeneration":1}})",
               "application/merge-patch+json")
                .status,
            200);
  EXPECT_EQ(Do("POST", Pod("p") + "/eviction", eviction).status, 201);
  EXPECT_EQ(Do("GET", Pod("p")).status, 404);
  EXPECT_EQ(At(Json(Do("GET", budgets + "/b")), {"status", "disruptionsAllowed"}), "0");
}

}  // namespace
}  // namespace kubexx::apiserver
