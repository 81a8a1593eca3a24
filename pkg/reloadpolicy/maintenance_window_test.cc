#include "kubexx/reloadpolicy/maintenance_window.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {
namespace {

using base::WallTime;
using ::testing::HasSubstr;

WallTime At(const char* text) {
  const auto time = apimachinery::Time::Parse(text);
  EXPECT_TRUE(time) << text;
  return WallTime(std::chrono::seconds(time->seconds));
}

std::string Text(std::optional<WallTime> time) {
  return time ? apimachinery::Time::From(*time).ToString() : "never";
}

MaintenanceWindow Window(const char* schedule, const char* duration, const char* zone = "") {
  auto window = MaintenanceWindow::Parse(schedule, duration, zone);
  EXPECT_TRUE(window) << (window ? "" : window.error().message);
  return window ? *window : MaintenanceWindow();
}

TEST(MaintenanceWindow, IsOpenFromItsScheduleOnForItsDuration) {
  const MaintenanceWindow window = Window("0 2 * * *", "2h");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T01:59:59Z"))), "never");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T02:00:00Z"))), "2026-11-21T04:00:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T03:59:59Z"))), "2026-11-21T04:00:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T04:00:00Z"))), "never");
  EXPECT_EQ(Text(window.NextOpening(At("2026-11-21T01:59:59Z"))), "2026-11-21T02:00:00Z");
  EXPECT_EQ(Text(window.NextOpening(At("2026-11-21T02:00:00Z"))), "2026-11-22T02:00:00Z");
}

TEST(MaintenanceWindow, MayLastBeyondMidnight) {
  const MaintenanceWindow window = Window("0 22 * * fri", "60h");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-22T12:00:00Z"))), "2026-11-23T10:00:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-23T10:00:00Z"))), "never");
}

TEST(MaintenanceWindow, OverlappingOpeningsCountAsOne) {
  const MaintenanceWindow window = Window("*/30 * * * *", "45m");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T01:31:00Z"))), "2026-11-21T02:15:00Z");
}

TEST(MaintenanceWindow, IsReadInItsTimeZone) {
  const MaintenanceWindow window = Window("0 2 * * *", "1h", "Asia/Tokyo");
  EXPECT_EQ(Text(window.NextOpening(At("2026-11-21T00:00:00Z"))), "2026-11-21T17:00:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-11-21T17:30:00Z"))), "2026-11-21T18:00:00Z");
}

// Berlin's clocks go forward from 02:00 to 03:00 on 2026-03-29, at 01:00 UTC.
TEST(MaintenanceWindow, ASkippedTimeIsTheMomentClocksGoForward) {
  const MaintenanceWindow window = Window("30 2 * * *", "1h", "Europe/Berlin");
  EXPECT_EQ(Text(window.NextOpening(At("2026-03-28T12:00:00Z"))), "2026-03-29T01:00:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-03-29T01:59:59Z"))), "2026-03-29T02:00:00Z");
  EXPECT_EQ(Text(window.NextOpening(At("2026-03-29T01:00:00Z"))), "2026-03-30T00:30:00Z");
}

// Berlin's clocks go back from 03:00 to 02:00 on 2026-10-25, at 01:00 UTC, so that 02:30 is both
// 00:30 UTC and 01:30 UTC.
TEST(MaintenanceWindow, ATimeShownTwiceCountsOnce) {
  const MaintenanceWindow window = Window("30 2 * * *", "10m", "Europe/Berlin");
  EXPECT_EQ(Text(window.NextOpening(At("2026-10-25T00:00:00Z"))), "2026-10-25T00:30:00Z");
  EXPECT_EQ(Text(window.NextOpening(At("2026-10-25T00:30:00Z"))), "2026-10-26T01:30:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-10-25T01:35:00Z"))), "never");
}

TEST(MaintenanceWindow, AnHourShownTwiceCountsTwiceForASchedulePerHour) {
  const MaintenanceWindow window = Window("30 * * * *", "10m", "Europe/Berlin");
  EXPECT_EQ(Text(window.NextOpening(At("2026-10-25T00:30:00Z"))), "2026-10-25T01:30:00Z");
  EXPECT_EQ(Text(window.OpenUntil(At("2026-10-25T01:35:00Z"))), "2026-10-25T01:40:00Z");
}

TEST(MaintenanceWindow, ADurationIsCountedInElapsedTime) {
  const MaintenanceWindow window = Window("0 0 * * *", "24h", "Europe/Berlin");
  // On the day with 23 hours the window is open without a gap, and closes 24 hours after it opened
  // the next day.
  EXPECT_EQ(Text(window.OpenUntil(At("2026-03-29T12:00:00Z"))), "2026-03-29T23:00:00Z");
}

TEST(MaintenanceWindow, KnowsZonesThatEndBeforeTheirLastTransition) {
  // For times far in the future, the rule at the end of the zone's file counts.
  const MaintenanceWindow window = Window("0 12 * * *", "1h", "America/New_York");
  EXPECT_EQ(Text(window.NextOpening(At("2099-07-01T00:00:00Z"))), "2099-07-01T16:00:00Z");
  EXPECT_EQ(Text(window.NextOpening(At("2099-01-01T00:00:00Z"))), "2099-01-01T17:00:00Z");
}

TEST(MaintenanceWindow, AScheduleThatNeverComesIsRefused) {
  const auto never = MaintenanceWindow::Parse("0 0 30 2 *", "1h", "");
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().message, "schedule: \"0 0 30 2 *\" never comes");
  EXPECT_EQ(Text(Window("0 0 29 2 *", "1h").NextOpening(At("2026-11-21T00:00:00Z"))),
            "2028-02-29T00:00:00Z");
  EXPECT_EQ(Text(Window("0 0 29 2 *", "1h").NextOpening(At("2097-01-01T00:00:00Z"))),
            "2104-02-29T00:00:00Z");
}

TEST(MaintenanceWindow, SaysWhatIsWrong) {
  const auto message = [](const char* schedule, const char* duration, const char* zone) {
    const auto window = MaintenanceWindow::Parse(schedule, duration, zone);
    return window ? std::string("accepted") : window.error().message;
  };
  EXPECT_THAT(message("x", "1h", ""), HasSubstr("schedule: "));
  EXPECT_THAT(message("0 0 * * *", "an hour", ""), HasSubstr("duration: \"an hour\""));
  EXPECT_THAT(message("0 0 * * *", "10s", ""), HasSubstr("between 1m and 168h"));
  EXPECT_THAT(message("0 0 * * *", "169h", ""), HasSubstr("between 1m and 168h"));
  EXPECT_THAT(message("0 0 * * *", "1h", "Mars/Olympus"), HasSubstr("timeZone: \"Mars/Olympus\""));
  EXPECT_THAT(message("0 0 * * *", "1h", "../../etc/passwd"), HasSubstr("timeZone: "));
  EXPECT_THAT(message("0 0 * * *", "1h", "/etc/passwd"), HasSubstr("timeZone: "));
  EXPECT_THAT(message("0 0 * * *", "1h", std::string(10000, 'A').c_str()), HasSubstr("timeZone: "));
}

TEST(MaintenanceWindow, AListHasOneToAPart) {
  const auto windows =
      MaintenanceWindow::ParseList("0 2 * * * 2h Europe/Berlin; @daily 1h ;30 4 * * sat 90m");
  ASSERT_TRUE(windows) << windows.error().message;
  ASSERT_EQ(windows->size(), 3U);
  EXPECT_EQ((*windows)[0], Window("0 2 * * *", "2h", "Europe/Berlin"));
  EXPECT_EQ((*windows)[1], Window("0 0 * * *", "1h"));
  EXPECT_EQ((*windows)[2], Window("30 4 * * sat", "90m"));
  EXPECT_TRUE(MaintenanceWindow::ParseList("")->empty());
  EXPECT_FALSE(MaintenanceWindow::ParseList("0 2 * * *"));
  EXPECT_FALSE(MaintenanceWindow::ParseList("0 2 * * * 2h Europe/Berlin extra"));
  std::string many;
  for (int i = 0; i < 17; ++i) {
    many += "@daily 1h;";
  }
  EXPECT_FALSE(MaintenanceWindow::ParseList(many));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
