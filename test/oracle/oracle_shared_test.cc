// Tests what an Oracle makes of sources of other namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "kubexx/reloader/model/digest.h"
#include "oracle/oracle_fixture.h"

namespace kubexx::oracle {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr const char* kShared = "/registry/configmaps/other/s";

class OracleSharedTest : public OracleTest {
 protected:
  OracleSharedTest() { JudgeSharing(); }
  void PutShared(const std::string& value, const std::string& allowed) {
    Put(kShared, R"({"metadata":{"annotations":{"reloader.kubexx.io/allowed-namespaces":")" +
                     allowed + R"("}},"data":{"key":")" + value + R"("}})");
  }
  /// As an operator has rolled it for these data.
  void PutRolled(const std::string& data) {
    PutNaming(data, "one",
              R"(,"env":[{"name":"STAKATER_OTHER__S_CONFIGMAP","value":")" +
                  reloader::DigestOf("key=" + data).ToString() + R"("}])");
  }
  /// One that names it, as an operator has recorded it; another image is a release.
  void PutNaming(const std::string& recorded, const std::string& image = "one",
                 const std::string& env = "") {
    Put(kWorkload,
        R"({"metadata":{"uid":"u","generation":2,"annotations":{"oracle/by":")" + image +
            R"(","reloader.kubexx.io/baseline":"v1 u configmap/other/s=)" +
            reloader::DigestOf("key=" + recorded).ToString() +
            R"("}},"status":{"observedGeneration":2},"spec":{"template":{"metadata":{"annotations":)"
            R"({"reloader.kubexx.io/reload-on-other-namespaces":"ConfigMap/other/s"}},"spec":)"
            R"({"containers":[{"image":")" +
            image + '"' + env + "}]}}}}");
  }
};

TEST_F(OracleSharedTest, PodsHaveToHaveThePresentDataWhereTheSourceAllowsIt) {
  PutShared("1", "some, ns");
  PutNaming("1");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutShared("2", "some, ns");
  EXPECT_THAT(oracle().OldPods(), Optional(HasSubstr("runs with configmaps/ns/other/s")));
  PutShared("2", "some");
  EXPECT_EQ(oracle().Stale(), std::nullopt) << "nobody may see it";
  PutShared("2", "*");
  EXPECT_NE(oracle().OldPods(), std::nullopt) << "it has not been forgotten";
}

TEST_F(OracleSharedTest, NobodyKnowsWithWhatPodsBeginMeanwhile) {
  PutShared("1", "ns");
  PutNaming("1");
  PutShared("2", "");
  PutNaming("1", "two");
  PutShared("1", "ns");
  EXPECT_EQ(oracle().Stale(), std::nullopt);
  PutShared("3", "ns");
  EXPECT_THAT(oracle().OldRecord(), Optional(HasSubstr("configmaps/ns/other/s")));
}

TEST_F(OracleSharedTest, NobodyMayRollForDataThatNobodyMaySee) {
  oracle().SetStrict(true);
  PutShared("1", "ns");
  PutNaming("1");
  PutShared("1", "");
  Pass(std::chrono::minutes(1));
  PutShared("2", "");
  PutRolled("2");
  EXPECT_THAT(oracle().Wrong(), Optional(HasSubstr("a source that does not allow it")));
}

TEST_F(OracleSharedTest, PermissionIsAReasonForARollout) {
  PutShared("1", "ns");
  PutNaming("1");
  ASSERT_EQ(oracle().TooMany(), std::nullopt);
  PutShared("1", "");
  PutShared("1", "ns");
  EXPECT_EQ(oracle().TooMany(), std::nullopt);
}

}  // namespace
}  // namespace kubexx::oracle
