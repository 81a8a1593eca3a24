#include "kubexx/reloader/plan/reload_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

SourceType DescribedType(const std::string& kind, const std::string& resource) {
  AddSourceKinds({{.group = "on.example.com",
                   .version = "v1",
                   .kind = kind,
                   .resource = resource,
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  return TypeCalled(&SourceTypeNames::kind, kind).value();
}

class ReloadOnTest : public testing::Test {
 protected:
  std::vector<std::string> ErrorsIn(const std::string& text) const {
    std::vector<std::string> errors;
    for (const BadItem& bad :
         BadItemsIn(text, [this](SourceType type) { return rules_.Ignores(type); })) {
      errors.push_back(bad.item + ": " + bad.error);
    }
    return errors;
  }

  const SourceType certificates_ = DescribedType("OnCertificate", "oncertificates");
  const SourceType secrets_ = DescribedType("OnExternalSecret", "onexternalsecrets");
  DecisionRules rules_{.source_kinds = {"OnCertificate", "OnExternalSecret"}};
};

TEST_F(ReloadOnTest, AListHasTheItemsOfEachKind) {
  const std::string text =
      "OnCertificate/web-tls, oncertificates/api.*,onexternalsecret / db, ,OnCertificate/";
  EXPECT_EQ(ReloadListIn(text, certificates_), "web-tls,api.*");
  EXPECT_EQ(ReloadListIn(text, secrets_), "db");
  EXPECT_EQ(ReloadListIn("", secrets_), std::nullopt);
  EXPECT_EQ(ReloadListIn("web-tls", certificates_), std::nullopt);
}

TEST_F(ReloadOnTest, WhatIsWrongWithAnItemIsSaid) {
  EXPECT_THAT(ErrorsIn("OnCertificate/web-tls, onexternalsecrets/db,"), IsEmpty());
  EXPECT_THAT(ErrorsIn("web-tls"), ElementsAre(HasSubstr("\"web-tls\": it names no kind")));
  EXPECT_THAT(ErrorsIn("/web-tls"), ElementsAre(HasSubstr("it names no kind")));
  EXPECT_THAT(ErrorsIn("OnCertificate/"), ElementsAre(HasSubstr("it names no object")));
  EXPECT_THAT(ErrorsIn("ConfigMap/web"),
              ElementsAre(HasSubstr("see configmap.reloader.stakater.com/reload")));
  EXPECT_THAT(ErrorsIn("OnCertificat/web, OnCertificat/web"),
              ElementsAre(HasSubstr("reloader.kubexx.io/reload-on: \"OnCertificat/web\": the "
                                    "operator knows no kind of sources that is called so; "
                                    "--source-kinds describes OnCertificate, OnExternalSecret")));
  rules_.source_kinds = {"OnExternalSecret"};
  EXPECT_THAT(ErrorsIn("OnCertificate/web"),
              ElementsAre(HasSubstr("--source-kinds describes OnExternalSecret")));
  rules_.source_kinds = {};
  EXPECT_THAT(ErrorsIn("OnCertificate/web"),
              ElementsAre(HasSubstr("--source-kinds describes none")));
}

TEST_F(ReloadOnTest, AllListsOfAValueAreReadAtOnce) {
  EXPECT_THAT(ReloadListsIn("OnCertificate/a,x,OnExternalSecret/b,Secret/c,oncertificates/d.*"),
              ElementsAre(Pair(certificates_, "a,d.*"), Pair(secrets_, "b")));
}

TEST_F(ReloadOnTest, ManyMistakesAreToldOfTogether) {
  std::string text = "OnCertificate/web-tls";
  for (int i = 0; i < 40'000; ++i) {
    text += ",x" + std::to_string(i);
  }
  const auto errors = ErrorsIn(text);
  ASSERT_THAT(errors, SizeIs(kMaxShownBadItems + 1));
  EXPECT_EQ(errors.back(), "reloader.kubexx.io/reload-on: and 39990 more of its items are wrong");
}

TEST_F(ReloadOnTest, OnlyWhoNamesASourceRollsForIt) {
  PatternCache patterns;
  const Source source{.id = {certificates_, {"ns", "web-tls"}}, .match = true};
  Workload workload;
  workload.id = {WorkloadKind::kDeployment, {"ns", "web"}};
  workload.annotations = {{"reloader.stakater.com/auto", "true"},
                          {"reloader.stakater.com/search", "true"}};
  EXPECT_EQ(Decide(source, workload, rules_, patterns), Verdict::kNoRule);
  workload.template_annotations = {{std::string(kReloadOn), "OnCertificate/web.*"}};
  EXPECT_EQ(Decide(source, workload, rules_, patterns), Verdict::kExplicit);
  EXPECT_TRUE(MayReload(workload, certificates_, rules_));
  workload.annotations[std::string(kReloadOn)] = "OnCertificate/other";
  EXPECT_EQ(Decide(source, workload, rules_, patterns), Verdict::kNoRule)
      << "the workload's own annotation counts";
  workload.annotations[std::string(kReloadOn)] = "OnExternalSecret/web-tls";
  EXPECT_EQ(Decide(source, workload, rules_, patterns), Verdict::kNoRule);
  workload.annotations[std::string(kReloadOn)] = "OnExternalSecret/a,OnCertificate/web-tls";
  EXPECT_EQ(Decide(source, workload, rules_, patterns), Verdict::kExplicit);
  Source ignored = source;
  ignored.ignore = true;
  EXPECT_EQ(Decide(ignored, workload, rules_, patterns), Verdict::kIgnored);
}

TEST_F(ReloadOnTest, AMistakeIsAmongTheBadValuesOfAWorkload) {
  Workload workload;
  workload.id = {WorkloadKind::kDeployment, {"ns", "web"}};
  workload.annotations = {{std::string(kReloadOn), "web-tls"}};
  EXPECT_THAT(BadValues(workload, rules_), SizeIs(1));
  workload.annotations = {{"reloader.kubexx.io/reload-om", "OnCertificate/web-tls"}};
  const auto bad = BadValues(workload, rules_);
  ASSERT_THAT(bad, SizeIs(1));
  EXPECT_THAT(bad[0].error, HasSubstr("reloader.kubexx.io/reload-on"));
}

}  // namespace
}  // namespace kubexx::reloader
