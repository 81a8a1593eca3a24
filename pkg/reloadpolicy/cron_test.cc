#include "kubexx/reloadpolicy/cron.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

local_days Day(int y, unsigned m, unsigned d) {
  return local_days(std::chrono::year(y) / std::chrono::month(m) / std::chrono::day(d));
}

struct MinutesCase {
  const char* name;
  const char* schedule;
  std::vector<int> minutes;
};

class CronMinutes : public ::testing::TestWithParam<MinutesCase> {};

TEST_P(CronMinutes, AreThoseOfTheFirstTwoFields) {
  const auto schedule = CronSchedule::Parse(GetParam().schedule);
  ASSERT_TRUE(schedule) << schedule.error().message;
  std::vector<int> actual;
  for (const minutes each : schedule->MinutesOfDay()) {
    actual.push_back(static_cast<int>(each.count()));
  }
  EXPECT_EQ(actual, GetParam().minutes);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CronMinutes,
    ::testing::Values(MinutesCase{"OneMinute", "30 2 * * *", {150}},
                      MinutesCase{"List", "0,30 2,3 * * *", {120, 150, 180, 210}},
                      MinutesCase{"Range", "0 1-3 * * *", {60, 120, 180}},
                      MinutesCase{"Step", "*/20 0 * * *", {0, 20, 40}},
                      MinutesCase{"StepOfARange", "10-40/15 0 * * *", {10, 25, 40}},
                      MinutesCase{"StepFromAValue", "50/5 0 * * *", {50, 55}},
                      MinutesCase{"StepBeyondTheEnd", "*/90 0 * * *", {0}},
                      MinutesCase{"Daily", "@daily", {0}},
                      MinutesCase{"MoreSpace", "  5\t 0  *  * * ", {5}}),
    [](const auto& instance) { return instance.param.name; });

struct DayCase {
  const char* name;
  const char* schedule;
  local_days day;
  bool matches;
};

class CronDays : public ::testing::TestWithParam<DayCase> {};

TEST_P(CronDays, MatchAsInVixieCron) {
  const auto schedule = CronSchedule::Parse(GetParam().schedule);
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(schedule->MatchesDay(GetParam().day), GetParam().matches);
}

// 2026-11-13 is a Friday, 2026-11-15 a Sunday.
INSTANTIATE_TEST_SUITE_P(
    Cases, CronDays,
    ::testing::Values(
        DayCase{"AnyDay", "0 0 * * *", Day(2026, 11, 13), true},
        DayCase{"DayOfMonth", "0 0 13 * *", Day(2026, 11, 13), true},
        DayCase{"OtherDayOfMonth", "0 0 13 * *", Day(2026, 11, 14), false},
        DayCase{"WeekdayByName", "0 0 * * Fri", Day(2026, 11, 13), true},
        DayCase{"WeekdayRange", "0 0 * * mon-FRI", Day(2026, 11, 15), false},
        DayCase{"SundayIsZero", "0 0 * * 0", Day(2026, 11, 15), true},
        DayCase{"SundayIsSeven", "0 0 * * 7", Day(2026, 11, 15), true},
        DayCase{"SundayEndsARange", "0 0 * * 5-7", Day(2026, 11, 15), true},
        DayCase{"EitherDayFieldWhenBothAreGiven", "0 0 1 * 5", Day(2026, 11, 13), true},
        DayCase{"EitherDayFieldTheOther", "0 0 15 * 5", Day(2026, 11, 15), true},
        DayCase{"NeitherDayField", "0 0 1 * 1", Day(2026, 11, 13), false},
        DayCase{"BothDayFieldsWhenOneIsAStarStep", "0 0 */2 * 5", Day(2026, 11, 13), true},
        DayCase{"StarStepExcludesAnEvenDay", "0 0 */2 * 5", Day(2026, 11, 20), false},
        DayCase{"WeekdayStepFromAValue", "0 0 * * 1/2", Day(2026, 11, 13), true},
        DayCase{"WeekdayStepEndsOnSaturday", "0 0 * * 1/2", Day(2026, 11, 15), false},
        DayCase{"WeekdayStepFromSundayAsSeven", "0 0 * * 7/2", Day(2026, 11, 15), true},
        DayCase{"WeekdayStepOfAllBeginsOnSunday", "0 0 * * */3", Day(2026, 11, 15), true},
        DayCase{"MonthByName", "0 0 * nov *", Day(2026, 11, 13), true},
        DayCase{"OtherMonth", "0 0 * jan-oct,DEC *", Day(2026, 11, 13), false},
        DayCase{"LeapDay", "0 0 29 2 *", Day(2028, 2, 29), true}),
    [](const auto& instance) { return instance.param.name; });

struct BadCase {
  const char* name;
  const char* schedule;
  const char* message;
};

class CronBad : public ::testing::TestWithParam<BadCase> {};

TEST_P(CronBad, IsRefusedByField) {
  const auto schedule = CronSchedule::Parse(GetParam().schedule);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_THAT(schedule.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CronBad,
    ::testing::Values(
        BadCase{"Empty", "", "0 fields"}, BadCase{"FourFields", "* * * *", "4 fields"},
        BadCase{"SixFields", "* * * * * *", "6 fields"},
        BadCase{"MinuteTooLarge", "60 * * * *", "minute field: \"60\" is not between"},
        BadCase{"DayZero", "0 0 0 * *", "day of month"},
        BadCase{"Negative", "-1 * * * *", "minute field"},
        BadCase{"Word", "0 0 * * someday", "\"someday\" is not a number"},
        BadCase{"StepZero", "*/0 * * * *", "step"}, BadCase{"NoStep", "*/ * * * *", "step"},
        BadCase{"RangeBackwards", "5-3 * * * *", "ends before it begins"},
        BadCase{"EmptyItem", "1,,2 * * * *", "minute"},
        BadCase{"Huge", "99999999999999999999 * * * *", "is not a number"},
        BadCase{"UnknownMacro", "@fortnightly", "is not a schedule"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Cron, RefusesALongText) { EXPECT_FALSE(CronSchedule::Parse(std::string(1000, '*'))); }

TEST(Cron, KnowsWhetherItIsAboutEveryHour) {
  EXPECT_TRUE(CronSchedule::Parse("0 */2 * * *")->every_hour());
  EXPECT_FALSE(CronSchedule::Parse("0 2 * * *")->every_hour());
}

}  // namespace
}  // namespace kubexx::reloadpolicy
