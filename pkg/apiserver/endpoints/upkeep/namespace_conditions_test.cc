#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

struct ConditionsClock {
  base::testing::FakeClock fake_clock_;
};

class NamespaceConditionsTest : ConditionsClock, public testing::ApiFixture {
 protected:
  static constexpr const char* kTeam = "/api/v1/namespaces/team";
  static constexpr const char* kTeamMaps = "/api/v1/namespaces/team/configmaps";
  static constexpr const char* kTeamPods = "/api/v1/namespaces/team/pods";
  static constexpr const char* kContent = "NamespaceDeletionContentFailure";
  static constexpr const char* kRemaining = "NamespaceContentRemaining";
  static constexpr const char* kHeldBack = "NamespaceFinalizersRemaining";

  NamespaceConditionsTest() : ApiFixture({.clock = fake_clock_, .cacher = {.clock = fake_clock_}}) {
    EXPECT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  }

  void MakeMap(const std::string& name, const std::string& finalizers = "[]") {
    const http::Response made =
        Do("POST", kTeamMaps,
           R"({"metadata":{"name":")" + name + R"(","finalizers":)" + finalizers + "}}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  /// On a node, so that it has its grace period.
  void MakePod(const std::string& meta = {}) {
    const http::Response made =
        Do("POST", kTeamPods,
           R"({"metadata":{"name":"p")" + meta +
               R"(},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  void Release(const std::string& path) {
    ASSERT_EQ(Do("PATCH", path, R"({"metadata":{"finalizers":null}})", kMergePatch).status, 200);
  }
  /// "STATUS REASON: MESSAGE" of the condition; "" when there is none.
  std::string Condition(const std::string& type) {
    const codec::JsonTree team = Json(Do("GET", kTeam));
    const codec::JsonTree* const conditions = team.At({"status", "conditions"});
    if (conditions == nullptr) {
      return {};
    }
    for (const codec::JsonTree& one : conditions->elements()) {
      if (one.TextAt("type") == type) {
        return At(one, {"status"}) + " " + At(one, {"reason"}) + ": " + At(one, {"message"});
      }
    }
    return {};
  }
  std::string Since(std::size_t index) {
    return At(Json(Do("GET", kTeam)),
              {"status", "conditions", std::to_string(index), "lastTransitionTime"});
  }
  void Pass(std::chrono::seconds time) {
    fake_clock_.Advance(time);
    Tick();
  }
};

TEST_F(NamespaceConditionsTest, TheyNameWhatHoldsANamespace) {
  MakeMap("a", R"(["example.com/f"])");
  MakeMap("b", R"(["example.com/f","example.com/g"])");
  MakeMap("c");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  EXPECT_EQ(Condition("NamespaceDeletionDiscoveryFailure"),
            "False ResourcesDiscovered: All resources successfully discovered");
  EXPECT_EQ(Condition("NamespaceDeletionGroupVersionParsingFailure"),
            "False ParsedGroupVersions: All legacy kube types successfully parsed");
  EXPECT_EQ(Condition(kContent),
            "False ContentDeleted: All content successfully deleted, may be waiting on "
            "finalization");
  EXPECT_EQ(Condition(kRemaining),
            "True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource "
            "instances");
  EXPECT_EQ(Condition(kHeldBack),
            "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: "
            "example.com/f in 2 resource instances, example.com/g in 1 resource instances");
  Release(std::string(kTeamMaps) + "/b");
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(Condition(kHeldBack), HasSubstr("remaining: example.com/f in 1 resource instances"));
  Release(std::string(kTeamMaps) + "/a");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Do("GET", kTeam).status, 404);
}

TEST_F(NamespaceConditionsTest, TheyNameAHundredFinalizers) {
  std::string all;
  for (int i = 0; i < 150; ++i) {
    all += (i == 0 ? "\"e.x/" : ",\"e.x/") + std::to_string(i) + "\"";
  }
  MakeMap("a", "[" + all + "]");
  MakeMap("b", R"(["e.x/0","e.x/149"])");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  EXPECT_THAT(Condition(kHeldBack), HasSubstr("e.x/0 in 2 resource instances, "));
  EXPECT_THAT(Condition(kHeldBack), HasSubstr(", others in 51 resource instances"));
}

TEST_F(NamespaceConditionsTest, WhatStaysTheSameIsNotWrittenAgain) {
  MakeMap("a", R"(["example.com/f"])");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  const std::string before = Do("GET", kTeam).body;
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Do("GET", kTeam).body, before);
}

TEST_F(NamespaceConditionsTest, ATimeIsThatOfTheChange) {
  // The own finalizer keeps the namespace, empty as it is.
  ASSERT_EQ(
      Do("PATCH", kTeam, R"({"metadata":{"finalizers":["example.com/t"]}})", kMergePatch).status,
      200);
  MakeMap("a", R"(["example.com/f"])");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  const std::string discovered = Since(0);
  const std::string held_back = Since(4);
  Release(std::string(kTeamMaps) + "/a");
  Pass(std::chrono::seconds(5));
  EXPECT_EQ(Condition(kRemaining), "False ContentRemoved: All content successfully removed");
  EXPECT_EQ(Condition(kHeldBack),
            "False ContentHasNoFinalizers: All content-preserving finalizers finished");
  EXPECT_EQ(Since(0), discovered);
  EXPECT_NE(Since(4), held_back);
  const codec::JsonTree team = Json(Do("GET", kTeam));
  EXPECT_EQ(At(team, {"spec", "finalizers"}), "");
  EXPECT_EQ(At(team, {"metadata", "deletionGracePeriodSeconds"}), "");
  Release(kTeam);
  EXPECT_EQ(Do("GET", kTeam).status, 404);
}

TEST_F(NamespaceConditionsTest, PodsGoBeforeTheRest) {
  MakePod(R"(,"finalizers":["example.com/f"])");
  MakeMap("a");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Do("GET", std::string(kTeamMaps) + "/a").status, 200);
  EXPECT_NE(At(Json(Do("GET", std::string(kTeamPods) + "/p")), {"metadata", "deletionTimestamp"}),
            "");
  EXPECT_THAT(Condition(kRemaining), HasSubstr("remaining: pods. has 1 resource instances"));
  EXPECT_THAT(Condition(kContent), HasSubstr("False ContentDeleted"));
  ASSERT_EQ(Do("DELETE", std::string(kTeamPods) + "/p?gracePeriodSeconds=0").status, 200);
  Release(std::string(kTeamPods) + "/p");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Do("GET", kTeam).status, 404);
  EXPECT_EQ(Do("GET", std::string(kTeamMaps) + "/a").status, 404);
}

TEST_F(NamespaceConditionsTest, APodThatDoesNotEndInItsTimeIsAFailure) {
  MakePod();
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  EXPECT_THAT(Condition(kContent), HasSubstr("False ContentDeleted"));
  Pass(std::chrono::seconds(40));
  EXPECT_EQ(Condition(kContent),
            "True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: "
            "unexpected items still remain in namespace: team for gvr: /v1, Resource=pods");
}

/// What PUT namespaces/NAME/finalize answers to the namespace as it is, with other finalizers.
class FinalizeTest : public NamespaceConditionsTest {
 protected:
  http::Response Finalize(const std::string& finalizers) {
    codec::JsonTree team = Json(Do("GET", kTeam));
    team["spec"]["finalizers"] = *codec::JsonTree::Parse(finalizers);
    team["status"]["phase"] = "Terminating";
    team["metadata"]["labels"]["a"] = "b";
    return Do("PUT", std::string(kTeam) + "/finalize", team.ToJson());
  }
};

TEST_F(FinalizeTest, ItSetsTheFinalizersOfTheSpec) {
  const http::Response taken = Finalize("[]");
  ASSERT_EQ(taken.status, 200) << taken.body;
  const codec::JsonTree team = Json(Do("GET", kTeam));
  EXPECT_EQ(At(team, {"spec", "finalizers"}), "");
  EXPECT_EQ(At(team, {"status", "phase"}), "Active");
  EXPECT_EQ(At(team, {"metadata", "labels", "a"}), "b");
  // They do not come back by other updates.
  EXPECT_EQ(
      Do("PUT", kTeam, R"({"metadata":{"name":"team"},"spec":{"finalizers":["x.io/y"]}})").status,
      200);
  EXPECT_EQ(At(Json(Do("GET", kTeam)), {"spec", "finalizers"}), "");
  EXPECT_EQ(Finalize(R"(["kubernetes","example.com/f"])").status, 200);
  EXPECT_EQ(At(Json(Do("GET", kTeam)), {"spec", "finalizers"}),
            R"(["kubernetes","example.com/f"])");
}

TEST_F(FinalizeTest, TheLastOneEndsTheNamespace) {
  MakeMap("a", R"(["example.com/f"])");
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  const http::Response ended = Finalize("[]");
  EXPECT_EQ(ended.status, 200) << ended.body;
  EXPECT_EQ(At(Json(ended), {"metadata", "name"}), "team");
  EXPECT_EQ(Do("GET", kTeam).status, 404);
}

TEST_F(FinalizeTest, ThoseOfOthersOutlastTheServersOwn) {
  ASSERT_EQ(Finalize(R"(["kubernetes","example.com/f"])").status, 200);
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  EXPECT_EQ(At(Json(Do("GET", kTeam)), {"spec", "finalizers"}), R"(["example.com/f"])");
  ASSERT_EQ(Finalize("[]").status, 200);
  EXPECT_EQ(Do("GET", kTeam).status, 404);
}

TEST_F(FinalizeTest, ANamespaceThatHasNoneTakesItsContentAlong) {
  MakeMap("a");
  ASSERT_EQ(Finalize("[]").status, 200);
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  EXPECT_EQ(Do("GET", kTeam).status, 404);
  EXPECT_EQ(Do("GET", std::string(kTeamMaps) + "/a").status, 404);
}

TEST_F(FinalizeTest, NamesHaveADomain) {
  const http::Response refused = Finalize(R"(["kubernetes","mine"])");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("spec.finalizers[1]: Invalid value: \"mine\": name is "
                                          "neither a standard finalizer name nor is it fully "
                                          "qualified"));
}

TEST_F(FinalizeTest, ItIsUpdatedOnly) {
  EXPECT_EQ(Do("GET", std::string(kTeam) + "/finalize").status, 405);
  EXPECT_EQ(Do("PATCH", std::string(kTeam) + "/finalize", "{}", kMergePatch).status, 405);
  EXPECT_EQ(Do("PUT", "/api/v1/namespaces/none/finalize",
               R"({"metadata":{"name":"none"},"spec":{"finalizers":[]}})")
                .status,
            404);
  EXPECT_EQ(Do("PUT", std::string(kTeamMaps) + "/a/finalize", "{}").status, 404);
}

TEST_F(FinalizeTest, ANewNamespaceAlwaysHasTheServersOwn) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces",
         R"({"metadata":{"name":"other"},"spec":{"finalizers":["example.com/f"]}})");
  EXPECT_EQ(At(Json(made), {"spec", "finalizers"}), R"(["example.com/f","kubernetes"])");
}

TEST_F(FinalizeTest, ThePhaseFollowsTheDeletion) {
  const http::Response refused = Do("PATCH", std::string(kTeam) + "/status",
                                    R"({"status":{"phase":"Terminating"}})", kMergePatch);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("status.Phase: Invalid value: \"Terminating\": may only "
                                          "be 'Active' if `deletionTimestamp` is empty"));
}

}  // namespace
}  // namespace kubexx::apiserver
