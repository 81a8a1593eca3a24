#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kGadgetDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kGadgetDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
constexpr const char* kGadgets = "/apis/example.com/v1/namespaces/default/gadgets";
constexpr const char* kGadget = "/apis/example.com/v1/namespaces/default/gadgets/g";

/// A definition with one object.
class CustomDeletionTest : public testing::ApiFixture {
 protected:
  CustomDeletionTest() {
    Define();
    Make();
  }
  void Define(const std::string& scope = "Namespaced") {
    const http::Response made = Do("POST", kGadgetDefinitions,
                                   R"({
      "metadata":{"name":"gadgets.example.com"},
      "spec":{"group":"example.com","names":{"plural":"gadgets","kind":"Gadget"},"scope":")" +
                                       scope + R"(",
       "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  void Make() {
    const http::Response made =
        Do("POST", kGadgets,
           R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g"}})");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  /// The types of all events of a watch, which is awaited to end.
  std::vector<std::string> ToldToTheEnd(http::BodyStream& watch) {
    std::vector<http::BodyStream::Chunk> chunks;
    KX_UNTIL(!watch.Take(chunks)) {
      Tick();
    }
    std::vector<std::string> types;
    for (const http::BodyStream::Chunk& chunk : chunks) {
      const auto event = codec::JsonTree::Parse(*chunk);
      types.push_back(event ? At(*event, {"type"}) : *chunk);
    }
    return types;
  }
  /// Whether the definition has the condition with the status True.
  bool IsTerminating() {
    const codec::JsonTree definition = Json(Do("GET", kGadgetDefinition));
    const codec::JsonTree* const conditions = definition.At({"status", "conditions"});
    for (const codec::JsonTree& one :
         conditions == nullptr ? std::span<const codec::JsonTree>() : conditions->elements()) {
      if (one.TextAt("type") == "Terminating") {
        return one.TextAt("status") == "True";
      }
    }
    return false;
  }
};

TEST_F(CustomDeletionTest, ARefusedDeletionTakesNothingAlong) {
  for (const char* const options :
       {R"({"preconditions":{"uid":"another"}})", R"({"preconditions":{"resourceVersion":"1"}})"}) {
    EXPECT_EQ(Do("DELETE", kGadgetDefinition, options).status, 409);
    EXPECT_EQ(Do("GET", kGadget).status, 200);
  }
  EXPECT_EQ(Do("DELETE", std::string(kGadgetDefinition) + "?dryRun=All").status, 200);
  EXPECT_EQ(Do("GET", kGadget).status, 200);
  EXPECT_FALSE(IsTerminating());
}

TEST_F(CustomDeletionTest, ObjectsGoWithTheirDefinition) {
  EXPECT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 404);
  EXPECT_EQ(Do("GET", kGadget).status, 404);
  Define();
  EXPECT_EQ(At(Json(Do("GET", kGadgets)), {"items"}), "[]");
}

TEST_F(CustomDeletionTest, WatchesAreToldOfAllObjectsThatGoBeforeTheyEnd) {
  constexpr int kObjects = 400;
  for (int i = 1; i < kObjects; ++i) {
    ASSERT_EQ(Do("POST", kGadgets,
                 R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g)" +
                     std::to_string(i) + "\"}}")
                  .status,
              201);
  }
  std::vector<std::shared_ptr<http::BodyStream>> watches;
  for (int i = 0; i < 8; ++i) {
    watches.push_back(Do("GET", std::string(kGadgets) + "?watch=1").stream);
  }
  ASSERT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  for (const auto& watch : watches) {
    const std::vector<std::string> told = ToldToTheEnd(*watch);
    EXPECT_EQ(std::ranges::count(told, "ADDED"), kObjects);
    EXPECT_EQ(std::ranges::count(told, "DELETED"), kObjects);
    watch->Closed();
  }
}

TEST_F(CustomDeletionTest, WatchesAreToldNothingOfADefinitionThatIsMadeAnewAtOnce) {
  const auto watch = Do("GET", std::string(kGadgets) + "?watch=1").stream;
  ASSERT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  Define("Cluster");
  ASSERT_EQ(Do("POST", "/apis/example.com/v1/gadgets",
               R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"new"}})")
                .status,
            201);
  EXPECT_THAT(ToldToTheEnd(*watch), ::testing::ElementsAre("ADDED", "DELETED"));
  watch->Closed();
}

TEST_F(CustomDeletionTest, WatchesOfAVersionThatIsServedNoMoreEnd) {
  const auto watch = Do("GET", std::string(kGadgets) + "?watch=1").stream;
  ASSERT_EQ(Do("PATCH", kGadget, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status, 200);
  ASSERT_EQ(Do("PATCH", kGadgetDefinition,
               R"([{"op":"replace","path":"/spec/versions/0/served","value":false}])",
               "application/json-patch+json")
                .status,
            200);
  EXPECT_THAT(ToldToTheEnd(*watch), ::testing::ElementsAre("ADDED", "MODIFIED"));
  watch->Closed();
}

TEST_F(CustomDeletionTest, ObjectsThatWaitHoldTheirDefinition) {
  ASSERT_EQ(
      Do("PATCH", kGadget, R"({"metadata":{"finalizers":["example.com/f"]}})", kMergePatch).status,
      200);
  const http::Response deleted = Do("DELETE", kGadgetDefinition);
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(At(Json(deleted), {"metadata", "finalizers"}),
            R"(["customresourcecleanup.apiextensions.k8s.io"])");
  EXPECT_TRUE(IsTerminating());
  EXPECT_NE(At(Json(Do("GET", kGadget)), {"metadata", "deletionTimestamp"}), "");
  const http::Response refused =
      Do("POST", kGadgets,
         R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"h"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "gadgets.example.com \"h\" is forbidden: create not allowed while custom resource "
            "definition is terminating");
  Tick();
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 200);

  ASSERT_EQ(Do("PATCH", kGadget, R"({"metadata":{"finalizers":null}})", kMergePatch).status, 200);
  EXPECT_EQ(Do("GET", kGadget).status, 404);
  Tick();
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 404);
  EXPECT_EQ(Do("GET", kGadgets).status, 404);
  Define();
  EXPECT_EQ(At(Json(Do("GET", kGadgets)), {"items"}), "[]");
  Make();
}

TEST_F(CustomDeletionTest, TheDefinitionsOwnFinalizersHoldItAndNotItsObjects) {
  ASSERT_EQ(Do("PATCH", kGadgetDefinition, R"({"metadata":{"finalizers":["example.com/f"]}})",
               kMergePatch)
                .status,
            200);
  EXPECT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  EXPECT_EQ(Do("GET", kGadget).status, 404);
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 200);
  EXPECT_EQ(Do("POST", kGadgets,
               R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"h"}})")
                .status,
            403);
  ASSERT_EQ(
      Do("PATCH", kGadgetDefinition, R"({"metadata":{"finalizers":null}})", kMergePatch).status,
      200);
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 404);
  EXPECT_EQ(Do("GET", kGadgets).status, 404);
}

TEST_F(CustomDeletionTest, ACollectionOfDefinitionsTakesTheirObjectsAlong) {
  EXPECT_EQ(Do("DELETE", kGadgetDefinitions).status, 200);
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 404);
  EXPECT_EQ(Do("GET", kGadgets).status, 404);
  Define();
  EXPECT_EQ(At(Json(Do("GET", kGadgets)), {"items"}), "[]");
}

TEST_F(CustomDeletionTest, ObjectsOfVersionsThatAreNotServedGoToo) {
  ASSERT_EQ(Do("PATCH", kGadgetDefinition,
               R"([{"op":"replace","path":"/spec/versions/0/served","value":false}])",
               "application/json-patch+json")
                .status,
            200);
  ASSERT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  Define();
  EXPECT_EQ(At(Json(Do("GET", kGadgets)), {"items"}), "[]");
}

/// Definitions may be made at the same time: all are served when their creates have been answered.
TEST_F(CustomDeletionTest, DefinitionsMadeAtOnceAreAllServed) {
  for (int round = 0; round < 6; ++round) {
    std::vector<std::jthread> writers;
    std::atomic<int> bad = 0;
    for (int i = 0; i < 8; ++i) {
      writers.emplace_back([this, round, i, &bad] {
        const std::string plural = "things" + std::to_string(round) + "x" + std::to_string(i);
        http::Request make;
        make.method = "POST";
        make.path = kGadgetDefinitions;
        make.headers = {{"Content-Type", "application/json"}};
        make.body = R"({"metadata":{"name":")" + plural + R"(.example.com"},
          "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" +
                    plural + R"(","kind":"T)" + plural + R"("},
           "versions":[{"name":"v1","served":true,"storage":true,
            "schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
        http::Request list;
        list.method = "GET";
        list.path = "/apis/example.com/v1/" + plural;
        if (api_.Handle(make).status != 201 || api_.Handle(list).status != 200) {
          ++bad;
        }
      });
    }
    writers.clear();
    ASSERT_EQ(bad, 0) << "in round " << round;
  }
}

TEST_F(CustomDeletionTest, DefinitionsOfAnotherServerAreServed) {
  ApiOptions options;
  options.shared_storage = true;
  Api other(*storage_, options);
  ASSERT_TRUE(other.Bootstrap({}));
  http::Request list;
  list.method = "GET";
  list.path = "/apis/example.com/v1/namespaces/default/gadgets";
  const auto await = [&](int status) {
    KX_UNTIL(other.Handle(list).status == status) {
      other.Tick();
      other.Reap();
    }
  };
  await(200);
  ASSERT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  await(404);
  Define();
  await(200);
}

TEST_F(CustomDeletionTest, AnotherServerGoesOnWithTheDeletion) {
  ASSERT_EQ(
      Do("PATCH", kGadget, R"({"metadata":{"finalizers":["example.com/f"]}})", kMergePatch).status,
      200);
  ASSERT_EQ(Do("DELETE", kGadgetDefinition).status, 200);
  ASSERT_EQ(Do("PATCH", kGadget, R"({"metadata":{"finalizers":null}})", kMergePatch).status, 200);
  Api restarted(*storage_, {});
  ASSERT_TRUE(restarted.Bootstrap({}));
  restarted.Tick();
  restarted.Reap();
  EXPECT_EQ(Do("GET", kGadgetDefinition).status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
