#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kNamespaces = "/api/v1/namespaces";
constexpr const char* kTeam = "/api/v1/namespaces/team";
constexpr const char* kTeamMaps = "/api/v1/namespaces/team/configmaps";
constexpr const char* kTeamMap = "/api/v1/namespaces/team/configmaps/m";

class NamespaceDeletionTest : public testing::ApiFixture {
 protected:
  void MakeTeam() {
    const http::Response made = Do("POST", kNamespaces, R"({"metadata":{"name":"team"}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  int SetFinalizers(const std::string& path, const std::string& list) {
    return Do("PATCH", path, R"({"metadata":{"finalizers":)" + list + "}}", kMergePatch).status;
  }
};

TEST_F(NamespaceDeletionTest, ANamespaceWaitsForWhatIsInIt) {
  MakeTeam();
  ASSERT_EQ(SetFinalizers(kTeam, R"(["example.com/f"])"), 200);
  ASSERT_EQ(
      Do("POST", kTeamMaps, R"({"metadata":{"name":"m","finalizers":["example.com/f"]}})").status,
      201);
  EXPECT_EQ(Do("DELETE", kTeam).status, 200);
  // Its own finalizer is not all that holds it.
  EXPECT_EQ(SetFinalizers(kTeam, "null"), 200);
  EXPECT_EQ(Do("GET", kTeam).status, 200);
  EXPECT_EQ(Do("GET", kTeamMap).status, 200);
  Tick();
  EXPECT_EQ(Do("GET", kTeam).status, 200);
  EXPECT_EQ(SetFinalizers(kTeamMap, "null"), 200);
  Tick();
  EXPECT_EQ(Do("GET", kTeam).status, 404);
  EXPECT_EQ(Do("GET", kTeamMap).status, 404);
}

TEST_F(NamespaceDeletionTest, ItsOwnFinalizerHoldsAnEmptyNamespace) {
  MakeTeam();
  ASSERT_EQ(SetFinalizers(kTeam, R"(["example.com/f"])"), 200);
  EXPECT_EQ(Do("DELETE", kTeam).status, 200);
  Tick();
  EXPECT_EQ(Do("GET", kTeam).status, 200);
  EXPECT_EQ(SetFinalizers(kTeam, "null"), 200);
  Tick();
  EXPECT_EQ(Do("GET", kTeam).status, 404);
}

TEST_F(NamespaceDeletionTest, OnlyTheServerTakesFinalizersOfTheSpecAway) {
  MakeTeam();
  const http::Response patched = Do("PATCH", kTeam, R"({"spec":{"finalizers":null}})", kMergePatch);
  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(At(Json(patched), {"spec", "finalizers"}), R"(["kubernetes"])");
}

TEST_F(NamespaceDeletionTest, NothingIsMadeInANamespaceThatGoes) {
  MakeTeam();
  ASSERT_EQ(
      Do("POST", kTeamMaps, R"({"metadata":{"name":"m","finalizers":["example.com/f"]}})").status,
      201);
  ASSERT_EQ(Do("DELETE", kTeam).status, 200);
  const http::Response refused = Do("POST", kTeamMaps, R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "configmaps \"n\" is forbidden: unable to create new content in namespace team because "
            "it is being terminated");
  EXPECT_EQ(At(Json(refused), {"details", "causes"}),
            R"([{"reason":"NamespaceTerminating","message":"namespace team is being terminated",)"
            R"("field":"metadata.namespace"}])");
  EXPECT_THAT(
      Message(Do("POST", "/api/v1/namespaces/team/pods", R"({"metadata":{"generateName":"p-"}})")),
      ::testing::StartsWith("pods \"p-\" is forbidden: unable to create"))
      << "of what is not valid either, and has no name yet";
}

TEST_F(NamespaceDeletionTest, ADryRunLeavesWhatIsInIt) {
  MakeTeam();
  ASSERT_EQ(Do("POST", kTeamMaps, R"({"metadata":{"name":"m"}})").status, 201);
  // As kubectl sends it, and in the query.
  EXPECT_EQ(Do("DELETE", kTeam, R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(Do("DELETE", std::string(kTeam) + "?dryRun=All").status, 200);
  Tick();
  EXPECT_EQ(Do("GET", kTeamMap).status, 200);
  EXPECT_EQ(At(Json(Do("GET", kTeam)), {"status", "phase"}), "Active");
}

TEST_F(NamespaceDeletionTest, WhatEveryClusterNeedsStays) {
  for (const std::string name : {"default", "kube-system", "kube-public"}) {
    const http::Response refused = Do("DELETE", std::string(kNamespaces) + "/" + name);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(Message(refused),
              "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
    EXPECT_EQ(Do("GET", std::string(kNamespaces) + "/" + name).status, 200);
  }
}

TEST_F(NamespaceDeletionTest, NamespacesAreNotDeletedTogether) {
  MakeTeam();
  EXPECT_EQ(Do("DELETE", kNamespaces).status, 405);
  EXPECT_EQ(At(Json(Do("GET", kTeam)), {"status", "phase"}), "Active");
}

TEST_F(NamespaceDeletionTest, CreatesThatRaceWithTheDeletionLeaveNoOrphan) {
  const auto write = [this](const std::string& prefix, std::atomic<int>& written) {
    for (int i = 0; i < 1000; ++i) {
      http::Request request;
      request.method = "POST";
      request.path = kTeamMaps;
      request.headers = {{"Content-Type", "application/json"}};
      request.body = R"({"metadata":{"name":")" + prefix + std::to_string(i) + "\"}}";
      const bool made = api_.Handle(request).status == 201;
      ++written;
      if (!made) {
        break;
      }
    }
  };
  const auto delete_team = [this] {
    ASSERT_EQ(Do("DELETE", kTeam).status, 200);
    for (int i = 0; i < 100 && Do("GET", kTeam).status != 404; ++i) {
      Tick();
    }
    ASSERT_EQ(Do("GET", kTeam).status, 404);
  };
  for (int round = 0; round < 20; ++round) {
    MakeTeam();
    std::atomic<int> written = 0;
    std::vector<std::jthread> writers;
    for (const char* const prefix : {"a", "b", "c", "d"}) {
      writers.emplace_back([&, prefix] { write(prefix, written); });
    }
    KX_AWAIT_GE(written, 20);
    delete_team();
    writers.clear();
    MakeTeam();
    ASSERT_EQ(At(Json(Do("GET", kTeamMaps)), {"items"}), "[]") << "in round " << round;
    delete_team();
  }
}

}  // namespace
}  // namespace kubexx::apiserver
