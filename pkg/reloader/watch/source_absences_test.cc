#include "kubexx/reloader/watch/source_absences.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

const SourceId kLeftOut{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kGone{SourceType::kConfigMap, {"ns", "gone"}};

class SourceAbsencesTest : public testing::Test {
 protected:
  bool IsLeftOut(const SourceId& id) {
    const auto answer = absences_.IsLeftOut(id, {});
    EXPECT_TRUE(answer);
    return answer.value_or(false);
  }

  base::testing::FakeClock clock_;
  std::set<SourceId> server_{kLeftOut};
  int asked_ = 0;
  std::function<void()> meanwhile_ = [] {};
  SourceAbsences absences_{
      {.has_selector = true,
       .exists = [this](const SourceId& id, const std::stop_token&) -> Result<bool> {
         ++asked_;
         const bool exists = server_.contains(id);
         meanwhile_();
         return exists;
       },
       .clock = clock_}};
};

TEST_F(SourceAbsencesTest, TheServerSaysWhetherASourceIsThereAndNotSelected) {
  EXPECT_TRUE(IsLeftOut(kLeftOut));
  EXPECT_FALSE(IsLeftOut(kGone));
}

TEST_F(SourceAbsencesTest, AnAnswerIsKeptForAMinute) {
  EXPECT_TRUE(IsLeftOut(kLeftOut));
  server_.clear();
  EXPECT_TRUE(IsLeftOut(kLeftOut));
  EXPECT_EQ(asked_, 1);
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_FALSE(IsLeftOut(kLeftOut));
}

TEST_F(SourceAbsencesTest, AnEventOfTheSourceEndsWhatIsKept) {
  EXPECT_TRUE(IsLeftOut(kLeftOut));
  server_.clear();
  absences_.Forget(kLeftOut);
  EXPECT_FALSE(IsLeftOut(kLeftOut));
}

TEST_F(SourceAbsencesTest, AnAnswerThatAnEventOvertookIsNotKept) {
  meanwhile_ = [this] { absences_.Forget(kLeftOut); };
  EXPECT_TRUE(IsLeftOut(kLeftOut));
  server_.clear();
  EXPECT_FALSE(IsLeftOut(kLeftOut));
}

TEST_F(SourceAbsencesTest, ARefusedQuestionIsNoAnswer) {
  SourceAbsences refused(
      {.has_selector = true, .exists = [](const SourceId&, const std::stop_token&) -> Result<bool> {
         return apimachinery::Fail(Status(Reason::kForbidden, "no", 403));
       }});
  EXPECT_FALSE(refused.IsLeftOut(kLeftOut, {}));
}

TEST_F(SourceAbsencesTest, WithoutASelectorOnlySecretsOfHelmAreAskedAbout) {
  std::set<SourceId> asked;
  SourceAbsences absences(
      {.exists = [&asked](const SourceId& id, const std::stop_token&) -> Result<bool> {
        asked.insert(id);
        return true;
      }});
  const SourceId release{SourceType::kSecret, {"ns", "sh.helm.release.v1.web.v3"}};
  EXPECT_FALSE(absences.IsLeftOut(kLeftOut, {}).value());
  EXPECT_TRUE(absences.IsLeftOut(release, {}).value());
  EXPECT_EQ(asked, std::set{release});
}

TEST_F(SourceAbsencesTest, WhereNothingIsRolledForThemOnlyWhatIsRecordedMatters) {
  const SourceExists exists = [](const SourceId&, const std::stop_token&) -> Result<bool> {
    return true;
  };
  EXPECT_FALSE(SourceAbsences::NewFor({}, {.exists = exists})) << "everything is watched";
  const auto recorded = SourceAbsences::NewFor({}, {.has_selector = true, .exists = exists});
  ASSERT_TRUE(recorded);
  EXPECT_TRUE(recorded->only_recorded());
  DecisionRules rules;
  rules.reload_on_delete = true;
  const auto all = SourceAbsences::NewFor(rules, {.has_selector = true, .exists = exists});
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->only_recorded());
}

}  // namespace
}  // namespace kubexx::reloader
