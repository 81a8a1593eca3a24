// Tests the operator with sources of a described kind: objects of which some fields count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kResource[] = "operatorcertificates";

SourceType CertificateType() {
  AddSourceKinds({{.group = "operator.example.com",
                   .version = "v1",
                   .kind = "OperatorCertificate",
                   .resource = kResource,
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  return TypeCalled(&SourceTypeNames::kind, "OperatorCertificate").value();
}

/// A Deployment that names the object "web-tls", and an operator.
class OperatorFieldsTest : public OperatorTest {
 protected:
  OperatorFieldsTest() {
    described_[type_] = objects_;
    rules_.source_kinds = {"OperatorCertificate"};
    Put(*deployments_, Named("OperatorCertificate/web-tls"));
  }
  ~OperatorFieldsTest() override { operator_.reset(); }

  static api::apps::v1::Deployment Named(const std::string& reload_on) {
    api::apps::v1::Deployment web = Web();
    web.metadata.annotations = {{std::string(kReloadOn), reload_on}};
    return web;
  }
  /// `status` is JSON.
  void PutObject(const std::string& status, const std::string& annotations = "{}") {
    objects_->PutObject(
        {.encoding = codec::Encoding::kJson,
         .bytes = R"({"metadata":{"annotations":)" + annotations + R"(},"status":)" + status + "}",
         .key = {"ns", "web-tls"}});
  }
  void AwaitUpdates(double updates) { AwaitEvents(kResource, "update", updates); }
  static std::string DigestOfRevision(const std::string& value) {
    return DigestOf("status.revision=" + value).ToString();
  }

  const SourceType type_ = CertificateType();
  std::shared_ptr<cache::testing::FakeSource> objects_ =
      std::make_shared<cache::testing::FakeSource>();
};

TEST_F(OperatorFieldsTest, AChangeOfTheFieldRollsAndOtherChangesDoNot) {
  PutObject(R"({"revision":1})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":1,"other":2})");
  AwaitUpdates(1);
  PutObject(R"({"revision":2,"other":2})");
  AwaitUpdates(2);
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_THAT(calls[0].patch, HasSubstr("STAKATER_WEB_TLS_OPERATORCERTIFICATE"));
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestOfRevision("2")));
}

TEST_F(OperatorFieldsTest, AnAnnotationOfNothingButABadItemIsReportedWheneverItChanges) {
  NoticeObserver notices;
  observers_ = {&notices};
  Put(*deployments_, Named("Certificat/c1"));  // it is there when the operator begins
  StartOperator();
  double reconciles = 0;
  const auto await_look = [&] {
    ++reconciles;
    KX_UNTIL(Count("reloader_reconcile_total", {{"result", "skipped"}}) >= reconciles) {
      clock_.Advance(std::chrono::milliseconds(100));
    }
    return notices.reasons().size();
  };
  const auto put = [&](const api::apps::v1::Deployment& web) {
    Put(*deployments_, web);
    return await_look();
  };
  EXPECT_EQ(await_look(), 1U);
  EXPECT_EQ(put(Named("Certificat/c2")), 2U);
  EXPECT_EQ(put(Named("OperatorCertificate/(((")), 3U) << "no regular expression";
  api::apps::v1::Deployment web = Named("OperatorCertificate/(((");
  web.metadata.annotations["configmap.reloader.stakater.com/reload"] = "(((";
  EXPECT_EQ(put(web), 3U) << "of an annotation of stakater/Reloader only the log tells";
  EXPECT_EQ(put(Named("Certificat/c2")), 4U);
  web.metadata.annotations.clear();
  EXPECT_EQ(put(web), 4U);
  EXPECT_EQ(put(Named("Certificat/c2")), 5U) << "it was away";
  web.metadata.annotations[std::string(kReloadOn)] = "Certificat/c2";
  web.metadata.annotations["example.com/other"] = "x";
  Put(*deployments_, web);  // nothing that counts has changed
  api::apps::v1::Deployment api = Web(kApi);
  api.metadata.annotations = {{std::string(kReloadOn), "Certificat/c1"}};
  EXPECT_EQ(put(api), 6U) << "one that is new";
  EXPECT_EQ(notices.reasons().back(), "InvalidAnnotation api");
  operator_->Stop();
  EXPECT_EQ(Count("reloader_reconcile_total", {{"result", "skipped"}}), reconciles);
}

TEST_F(OperatorFieldsTest, AFieldThatAppearsRollsOnlyWhatIsToBeRolledForCreations) {
  PutObject("{}");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":1})");
  AwaitUpdates(1);
  Settle();
  AwaitReconciles("skipped", 2);
  EXPECT_TRUE(writer_.calls().empty());
  PutObject(R"({"revision":2})");
  AwaitUpdates(2);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOfRevision("2")));
}

TEST_F(OperatorFieldsTest, WithReloadOnCreateAFieldThatAppearsRolls) {
  rules_.reload_on_create = true;
  PutObject("{}");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":1})");
  AwaitUpdates(1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOfRevision("1")));
}

TEST_F(OperatorFieldsTest, AFieldThatGoesAndComesBackRollsNothing) {
  PutObject(R"({"revision":1})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject("{}");
  AwaitUpdates(1);
  PutObject(R"({"revision":1})");
  AwaitUpdates(2);
  Settle();
  AwaitReconciles("skipped", 2);
  objects_->Delete({"ns", "web-tls"});
  AwaitEvents(kResource, "delete", 1);
  EXPECT_TRUE(writer_.calls().empty());
}

TEST_F(OperatorFieldsTest, WithReloadOnDeleteAFieldThatGoesRolls) {
  rules_.reload_on_delete = true;
  Put(*deployments_, WithVariable(Named("OperatorCertificate/web-tls"),
                                  "STAKATER_WEB_TLS_OPERATORCERTIFICATE", DigestOfRevision("1")));
  PutObject(R"({"revision":1})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject("{}");
  AwaitUpdates(1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr("\"$patch\":\"delete\""));
}

TEST_F(OperatorFieldsTest, AnObjectThatCannotBeDecodedIsNotDeleted) {
  const std::string deep =
      R"({"revision":2,"other":)" + std::string(600, '[') + std::string(600, ']') + "}";
  rules_.reload_on_delete = true;
  api::apps::v1::Deployment web = Named("OperatorCertificate/web-tls");
  web.metadata.uid = "u";
  web.metadata.annotations[std::string(kBaselineAnnotation)] =
      "v1 u operatorcertificate." + DescribedBy(type_)->mark + "/web-tls=" + DigestOfRevision("1");
  Put(*deployments_,
      WithVariable(web, "STAKATER_WEB_TLS_OPERATORCERTIFICATE", DigestOfRevision("1")));
  PutObject(deep);
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(deep.substr(0, deep.size() - 1) + R"(,"more":1})");
  AwaitUpdates(1);
  EXPECT_TRUE(writer_.calls().empty());
  PutObject(R"({"revision":2})");
  AwaitUpdates(2);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOfRevision("2"))) << "it has changed";
}

TEST_F(OperatorFieldsTest, AnIgnoredObjectRollsNothing) {
  PutObject(R"({"revision":1})", R"({"reloader.stakater.com/ignore":"true"})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":2})", R"({"reloader.stakater.com/ignore":"true"})");
  AwaitUpdates(1);
  Settle();
  AwaitReconciles("skipped", 2);
  EXPECT_TRUE(writer_.calls().empty());
}

TEST_F(OperatorFieldsTest, APatternNamesObjectsThatHaveTheField) {
  Put(*deployments_, Named("operatorcertificates/web.*"));
  PutObject(R"({"revision":1})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":2})");
  AwaitUpdates(1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestOfRevision("2")));
}

TEST_F(OperatorFieldsTest, WithAnnotationsTheKindIsNamed) {
  PutObject(R"({"revision":1})");
  StartOperator(ReloadStrategy::kAnnotations);
  Settle();
  AwaitReconciles("skipped", 1);
  PutObject(R"({"revision":2})");
  AwaitUpdates(1);
  Settle();
  const std::string patch = writer_.Await(1)[0].patch;
  EXPECT_THAT(patch, HasSubstr(R"(\"type\":\"OPERATORCERTIFICATE\")"));
  EXPECT_THAT(patch, HasSubstr(DigestOfRevision("2")));
  EXPECT_THAT(patch, Not(HasSubstr("STAKATER_")));
}

TEST_F(OperatorFieldsTest, ChangesOfOneReleaseAreOneRollout) {
  api::apps::v1::Deployment web = Named("OperatorCertificate/web-tls");
  web.metadata.annotations["configmap.reloader.stakater.com/reload"] = "config";
  Put(*deployments_, web);
  PutConfigMap("config", "1");
  PutObject(R"({"revision":1})");
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutConfigMap("config", "2");
  AwaitEvents("configmaps", "update", 1);
  PutObject(R"({"revision":2})");
  AwaitUpdates(1);
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestOfRevision("2")));
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestText("2")));
}

}  // namespace
}  // namespace kubexx::reloader
