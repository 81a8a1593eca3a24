#include "kubexx/apiserver/controllers/expected_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using controller::Action;

Result<Action> OutcomeOf(const Status& error) {
  base::testing::FakeClock clock;
  const std::string name = "test";
  controller::Context context{.client = controller::Client({}), .clock = clock, .controller = name};
  return WithExpectedErrors(
      [&error](const controller::Request&, controller::Context&) -> Result<Action> {
        return Fail(error);
      })({}, context);
}

TEST(ExpectedErrorsTest, AnEndingNamespaceEndsTheWork) {
  Status ending(Reason::kForbidden, "no", 403);
  EXPECT_FALSE(OutcomeOf(ending)) << "a right that is missing is to be seen";
  ending.details.causes.push_back(
      {.reason = std::string(apimachinery::kNamespaceTerminatingCause)});
  const auto outcome = OutcomeOf(ending);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->delay());
}

TEST(ExpectedErrorsTest, TheErrorOfTheWorkIsTriedAgainUnlessTheNamespaceEnds) {
  const auto later = Action::RequeueAfter(std::chrono::seconds(1));
  EXPECT_TRUE(AfterReport({}, later)->delay());
  const Status refused(Reason::kForbidden, "no", 403);
  const auto outcome = AfterReport(Fail(refused), later);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), refused);
  Status ending = refused;
  ending.details.causes.push_back(
      {.reason = std::string(apimachinery::kNamespaceTerminatingCause)});
  EXPECT_TRUE(AfterReport(Fail(ending), later));
  const Status conflict(Reason::kConflict, "changed", 409);
  EXPECT_EQ(AfterReport(Fail(ending), Fail(conflict)).error(), conflict)
      << "the status is yet to be written";
}

TEST(ExpectedErrorsTest, AConflictIsWorkedOnAgain) {
  const auto outcome = OutcomeOf(Status(Reason::kConflict, "changed", 409));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->delay());
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
