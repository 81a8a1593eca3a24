#include "kubexx/reloader/admission/source_admission.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PreviewedRollout Foreseen(const std::string& name,
                          std::optional<reloadpolicy::HoldReason> hold = std::nullopt) {
  PreviewedRollout rollout;
  rollout.forecast.workload = {WorkloadKind::kDeployment, {"shop", name}};
  if (hold) {
    rollout.forecast.hold = reloadpolicy::Hold{.reason = *hold, .message = "because"};
  }
  return rollout;
}

TEST(WarningsOf, NameWhatRollsAndWhatWaits) {
  EXPECT_THAT(WarningsOf({}), IsEmpty());
  EXPECT_THAT(WarningsOf({.rollouts = {Foreseen("web")}}),
              ElementsAre("kubexx-reloader rolls 1 workload: Deployment/web"));
  EXPECT_THAT(WarningsOf({.rollouts = {Foreseen("api"),
                                       Foreseen("web", reloadpolicy::HoldReason::kPaused)}}),
              ElementsAre("kubexx-reloader rolls 2 workloads: Deployment/api, Deployment/web",
                          "1 of them cannot begin at once: Deployment/web (Paused)"));
}

TEST(WarningsOf, LeaveOutWhatIsNotRolled) {
  PreviewedRollout refused = Foreseen("web");
  refused.refused = "its pause period cannot be read";
  PreviewedRollout suspended = Foreseen("job");
  suspended.left_alone = "it is suspended";
  EXPECT_THAT(WarningsOf({.rollouts = {refused, suspended}}), IsEmpty());
}

TEST(WarningsOf, AreShortHoweverManyThereAre) {
  Preview preview;
  for (int i = 0; i < 1000; ++i) {
    preview.rollouts.push_back(Foreseen(std::string(i % 7 == 0 ? 200 : 10, 'n') + std::to_string(i),
                                        reloadpolicy::HoldReason::kPaused));
  }
  const std::vector<std::string> warnings = WarningsOf(preview);
  ASSERT_EQ(warnings.size(), 2U);
  for (const std::string& warning : warnings) {
    EXPECT_LT(warning.size(), 120U);
  }
  preview.rollouts.erase(preview.rollouts.begin());
  EXPECT_THAT(WarningsOf(preview)[0], HasSubstr(" more"));
  EXPECT_THAT(WarningsOf(preview)[0], HasSubstr("rolls 999 workloads: Deployment/nnn"));
}

TEST(WarningsOf, TellThatNotAllWereLookedAt) {
  Preview preview{.rollouts = {Foreseen("web")}, .not_looked_at = 1800, .looked_at = 200};
  EXPECT_THAT(WarningsOf(preview),
              ElementsAre("kubexx-reloader rolls at least 1 workload: Deployment/web"));
  preview.rollouts.clear();
  EXPECT_THAT(WarningsOf(preview), ElementsAre("kubexx-reloader rolls none of 200 workloads, and "
                                               "1800 more that may use it were not looked at"));
}

struct Warner {
  base::testing::FakeClock clock{};
  std::vector<ChangedSource> seen{};
  Result<Preview> answer{Preview{.rollouts = {Foreseen("web")}}};
  bool throws = false;
  SourceAdmission admission{[this](const ChangedSource& changed, const std::stop_token&) {
                              seen.push_back(changed);
                              if (throws) {
                                throw std::runtime_error("no memory");
                              }
                              return answer;
                            },
                            {},
                            clock,
                            nullptr};
};

webhook::AdmissionRequest UpdateOf(const std::string& resource, const std::string& object) {
  webhook::AdmissionRequest request;
  request.resource = {.group = "", .version = "v1", .resource = resource};
  request.operation = "UPDATE";
  request.namespace_ = "shop";
  request.name = "settings";
  request.object.raw = object;
  return request;
}

TEST(SourceAdmission, WarnsOfAnUpdateAndAllowsIt) {
  Warner warner;
  const auto update =
      UpdateOf("configmaps", R"({"metadata":{"name":"settings"},"data":{"a":"1"}})");
  const webhook::Response response = warner.admission.Answer({.request = update});
  EXPECT_TRUE(response.allowed);
  EXPECT_THAT(response.warnings, ElementsAre(HasSubstr("Deployment/web")));
  ASSERT_EQ(warner.seen.size(), 1U);
  EXPECT_EQ(warner.seen[0].source.digest, DigestOf("a=1"));
  EXPECT_EQ(warner.seen[0].source.id, (SourceId{SourceType::kConfigMap, {"shop", "settings"}}));
  const auto secret = UpdateOf("secrets", R"({"data":{"a":"MQ=="}})");
  EXPECT_THAT(warner.admission.Answer({.request = secret}).warnings, testing::SizeIs(1));
  EXPECT_EQ(warner.seen[1].source.digest, DigestOf("a=1"));
}

TEST(SourceAdmission, AllowsWhateverHappens) {
  Warner warner;
  const auto good = UpdateOf("configmaps", "{}");
  warner.throws = true;
  EXPECT_TRUE(warner.admission.Answer({.request = good}).allowed);
  warner.throws = false;
  warner.answer = apimachinery::Fail(apimachinery::Reason::kTimeout, "slow");
  EXPECT_TRUE(warner.admission.Answer({.request = good}).allowed);
  for (const char* text : {"", "{", "7", R"({"data":7})"}) {
    const auto bad = UpdateOf("secrets", text);
    const webhook::Response response = warner.admission.Answer({.request = bad});
    EXPECT_TRUE(response.allowed) << text;
    EXPECT_THAT(response.warnings, IsEmpty()) << text;
  }
}

TEST(SourceAdmission, IsSilentAboutEverythingElse) {
  Warner warner;
  auto made = UpdateOf("configmaps", "{}");
  made.operation = "CREATE";
  const auto pod = UpdateOf("pods", "{}");
  auto restore = UpdateOf("configmaps", "{}");
  restore.options.raw = R"({"kind":"UpdateOptions","fieldManager":"kubexx-reloader-restore"})";
  for (const auto& request : {made, pod, restore}) {
    EXPECT_THAT(warner.admission.Answer({.request = request}).warnings, IsEmpty());
  }
  EXPECT_THAT(warner.seen, IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
