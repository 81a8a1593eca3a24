#include "kubexx/apiserver/endpoints/validation/workloads/update_strategies.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

/// What kube-apiserver says of the same test/differential/validation.py asks both servers.
class UpdateStrategiesTest : public testing::ApiFixture {
 protected:
  http::Response Try(const std::string& plural, const std::string& members) {
    return Do("POST", "/apis/apps/v1/namespaces/default/" + plural + "?dryRun=All",
              R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
              R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[)"
              R"({"name":"c","image":"i"}]}},)" +
                  members + "}}");
  }
  /// The strategy that comes of another one.
  std::string Made(const std::string& plural, const std::string& strategy) {
    const char* const field = plural == "deployments" ? "strategy" : "updateStrategy";
    const http::Response made = Try(plural, std::string("\"") + field + "\":" + strategy);
    EXPECT_EQ(made.status, 201) << made.body;
    return At(Json(made), {"spec", field});
  }
  std::string Problem(const std::string& plural, const std::string& members) {
    const http::Response refused = Try(plural, members);
    EXPECT_EQ(refused.status, 422) << refused.body;
    return Message(refused);
  }
};

TEST_F(UpdateStrategiesTest, AStatefulSetThatNamesItsTypeNeedsNoPartition) {
  EXPECT_EQ(Made("statefulsets", R"({"type":"RollingUpdate"})"), R"({"type":"RollingUpdate"})");
  EXPECT_EQ(Made("statefulsets", R"({"type":"OnDelete"})"), R"({"type":"OnDelete"})");
  EXPECT_THAT(Made("statefulsets", "{}"), HasSubstr(R"("partition":0)"));
  EXPECT_THAT(Made("statefulsets", R"({"type":"RollingUpdate","rollingUpdate":{}})"),
              HasSubstr(R"("partition":0)"));
  EXPECT_THAT(Made("statefulsets", R"({"rollingUpdate":{"partition":3}})"),
              HasSubstr(R"("partition":3)"));
}

TEST_F(UpdateStrategiesTest, OthersAreRefused) {
  const std::string update = R"("updateStrategy":)";
  EXPECT_THAT(Problem("statefulsets", update + R"({"type":"Recreate"})"),
              HasSubstr("spec.updateStrategy: Invalid value"));
  EXPECT_THAT(Problem("statefulsets", update + R"({"type":"OnDelete","rollingUpdate":{}})"),
              HasSubstr("spec.updateStrategy.rollingUpdate: Invalid value"));
  EXPECT_THAT(Problem("statefulsets", update + R"({"rollingUpdate":{"partition":-1}})"),
              HasSubstr("partition: Invalid value: -1"));
  EXPECT_THAT(Problem("daemonsets", update + R"({"type":"Recreate"})"),
              HasSubstr("spec.updateStrategy: Unsupported value"));
  EXPECT_THAT(Problem("deployments", R"("strategy":{"type":"OnDelete"})"),
              HasSubstr("spec.strategy: Unsupported value"));
  EXPECT_THAT(Problem("deployments", R"("strategy":{"type":"Recreate","rollingUpdate":{}})"),
              HasSubstr("spec.strategy.rollingUpdate: Forbidden"));
}

TEST_F(UpdateStrategiesTest, SomePodsMayBeReplaced) {
  const auto rolling = [](const std::string& unavailable, const std::string& surge) {
    return R"({"rollingUpdate":{"maxUnavailable":)" + unavailable + R"(,"maxSurge":)" + surge +
           "}}";
  };
  const std::string update = R"("updateStrategy":)";
  const std::string strategy = R"("strategy":)";
  EXPECT_THAT(Problem("deployments", strategy + rolling("0", "\"0%\"")),
              HasSubstr("maxUnavailable: Invalid value: 0: may not be 0"));
  EXPECT_THAT(Problem("deployments", strategy + rolling("\"x\"", "1")),
              HasSubstr("maxUnavailable: Invalid value: \"x\": a string has to be a percentage"));
  EXPECT_THAT(Problem("deployments", strategy + rolling("\"101%\"", "1")),
              HasSubstr("must not be greater than 100%"));
  EXPECT_THAT(Problem("deployments", strategy + rolling("1", "-1")),
              HasSubstr("maxSurge: Invalid value: -1"));
  EXPECT_THAT(Problem("daemonsets", update + rolling("0", "0")),
              HasSubstr("maxUnavailable: Required value"));
  EXPECT_THAT(Problem("daemonsets", update + rolling("1", "1")),
              HasSubstr("maxSurge: Invalid value: 1: may not be set"));
  EXPECT_NE(Made("deployments", rolling("0", "\"200%\"")), "");
  EXPECT_NE(Made("daemonsets", rolling("0", "1")), "");
}

TEST_F(UpdateStrategiesTest, ADeadlineIsAfterPodsAreReady) {
  EXPECT_THAT(Problem("deployments", R"("minReadySeconds":5,"progressDeadlineSeconds":5)"),
              HasSubstr("spec.progressDeadlineSeconds: Invalid value: 5: must be greater"));
  EXPECT_THAT(Problem("replicasets", R"("minReadySeconds":-1)"),
              HasSubstr("spec.minReadySeconds: Invalid value: -1"));
  EXPECT_EQ(Try("deployments", R"("minReadySeconds":5,"progressDeadlineSeconds":6)").status, 201);
}

}  // namespace
}  // namespace kubexx::apiserver
