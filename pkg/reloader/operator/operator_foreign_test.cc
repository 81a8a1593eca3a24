// Tests the operator with sources of other namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A Deployment that names ConfigMap settings of namespace "shared", and an operator.
class ForeignSourceTest : public OperatorTest {
 protected:
  ForeignSourceTest() {
    rules_.keys.other_namespaces = true;
    recording_ = BaselineRecording::kAlways;
    observers_ = {&notices_};
  }
  ~ForeignSourceTest() override { operator_.reset(); }

  /// `allowed`: the namespaces that may name it; empty: none.
  void PutShared(const std::string& value, const std::string& allowed) {
    api::core::v1::ConfigMap settings;
    settings.metadata.namespace_ = "shared";
    settings.metadata.name = "settings";
    settings.data["key"] = value;
    if (!allowed.empty()) {
      settings.metadata.annotations[std::string(kAllowedNamespaces)] = allowed;
    }
    Put(*config_maps_, settings);
  }
  static apps::Deployment NamingShared(const WorkloadId& id = kWeb) {
    apps::Deployment web = Web(id);
    web.metadata.annotations[std::string(kReloadOnOtherNamespaces)] = "ConfigMap/shared/settings";
    return web;
  }
  /// Changes the source, and waits until the operator knows it.
  void Change(const std::string& value, const std::string& allowed) {
    PutShared(value, allowed);
    AwaitEvents("configmaps", "update", ++updates_);
  }
  /// Has the Deployment planned after whatever has been told, by another change that rolls it, and
  /// returns the patch of that.
  std::string RolledFor(const std::string& value) {
    PutConfigMap("config", value);
    AwaitEvents("configmaps", "update", ++updates_);
    Settle();
    return writer_.Await(++rollouts_).back().patch;
  }

  NoticeObserver notices_;
  double updates_ = 0;
  std::size_t rollouts_ = 0;
};

constexpr char kForeignVariable[] = "STAKATER_SHARED__SETTINGS_CONFIGMAP";

TEST_F(ForeignSourceTest, AChangeRollsTheWorkloadsOfNamespacesThatItAllows) {
  PutConfigMap("config", "1");
  PutShared("1", "other, ns");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.AwaitRecords(1)[0].baseline,
              HasSubstr("configmap/shared/settings=" + DigestText("1")));
  Change("2", "other, ns");
  Settle();
  const auto call = writer_.Await(1)[0];
  EXPECT_THAT(call.patch, HasSubstr(kForeignVariable));
  EXPECT_THAT(call.patch, HasSubstr(DigestText("2")));
  EXPECT_THAT(call.baseline, HasSubstr("configmap/shared/settings=" + DigestText("2")));
}

TEST_F(ForeignSourceTest, OneThatDoesNotAllowTheNamespaceIsAsOneThatIsNotThere) {
  PutConfigMap("config", "1");
  PutShared("1", "other");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  Change("2", "other");
  EXPECT_EQ(RolledFor("2").find("SHARED"), std::string::npos);
  EXPECT_THAT(writer_.calls()[0].baseline, Not(HasSubstr("shared")));
}

TEST_F(ForeignSourceTest, PermissionThatComesAndGoesRollsNothingByItself) {
  PutConfigMap("config", "1");
  PutShared("1", "ns");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  writer_.AwaitRecords(1);
  Change("1", "");
  Settle();
  Change("1", "*");
  Settle();
  EXPECT_EQ(RolledFor("2").find("SHARED"), std::string::npos);
}

TEST_F(ForeignSourceTest, DataThatChangeWithoutPermissionRollOnceItIsBack) {
  PutConfigMap("config", "1");
  PutShared("1", "ns");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  writer_.AwaitRecords(1);
  Change("1", "");
  Settle();
  Change("2", "");
  EXPECT_EQ(RolledFor("2").find("SHARED"), std::string::npos);
  Change("2", "ns");
  Settle();
  EXPECT_THAT(writer_.Await(2)[1].patch, HasSubstr(DigestText("2")));
}

TEST_F(ForeignSourceTest, ADeletedSourceRollsNothingAndItsSuccessorDoes) {
  rules_.reload_on_delete = true;
  rules_.reload_on_create = true;
  PutConfigMap("config", "1");
  PutShared("1", "*");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  writer_.AwaitRecords(1);
  config_maps_->Delete({"shared", "settings"});
  AwaitEvents("configmaps", "delete", 1);
  Settle();
  EXPECT_EQ(RolledFor("2").find("SHARED"), std::string::npos);
  PutShared("2", "*");
  AwaitEvents("configmaps", "add", 3);  // with the two of the beginning
  Settle();
  EXPECT_THAT(writer_.Await(2)[1].patch, HasSubstr(kForeignVariable));
}

TEST_F(ForeignSourceTest, WithoutTheFlagNothingIsReadOfTheAnnotations) {
  rules_.keys.other_namespaces = false;
  PutConfigMap("config", "1");
  PutShared("1", "ns");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.AwaitRecords(1)[0].baseline, Not(HasSubstr("shared")));
  Change("2", "ns");
  EXPECT_EQ(RolledFor("2").find("SHARED"), std::string::npos);
}

TEST_F(ForeignSourceTest, WorkloadsOfAnIgnoredNamespaceAreLeftAlone) {
  PutShared("1", "*");
  const WorkloadId ignored{WorkloadKind::kDeployment, {"ignored", "web"}};
  Put(*deployments_, NamingShared(ignored));
  Put(*deployments_, NamingShared());
  PutConfigMap("config", "1");
  StartOperator();
  Settle();
  Change("2", "*");
  Settle();
  writer_.Await(1);
  EXPECT_THAT(writer_.calls(), ElementsAre(testing::Field(&FakeWriter::Call::workload, kWeb)));
}

TEST_F(ForeignSourceTest, TheWorkloadIsToldWhatIsMissing) {
  PutConfigMap("config", "1");
  Put(*deployments_, NamingShared());
  StartOperator();
  Settle();
  KX_AWAIT(!notices_.reasons().empty());
  EXPECT_THAT(notices_.reasons(), ElementsAre("SourceNotSeen web"));
}

}  // namespace
}  // namespace kubexx::reloader
