#include "kubexx/reloader/ui/open_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using reloadpolicy::MaintenanceWindow;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Monday, 2026-03-02, at that time, in UTC.
base::WallTime Monday(std::chrono::minutes time) {
  return std::chrono::sys_days(std::chrono::year(2026) / 3 / 2) + time;
}

std::vector<MaintenanceWindow> WindowsFrom(std::string_view text) {
  const auto windows = MaintenanceWindow::ParseList(text);
  EXPECT_TRUE(windows) << text;
  return windows.value_or(std::vector<MaintenanceWindow>());
}

TEST(OpenTimesTest, AreThoseOfEachDay) {
  EXPECT_THAT(OpenTimes(WindowsFrom("0 22 * * * 2h"), Monday(12h), Monday(60h), 10),
              ElementsAre(OpenTime{Monday(22h), Monday(24h)}, OpenTime{Monday(46h), Monday(48h)}));
}

TEST(OpenTimesTest, AWindowThatIsOpenBeginsNow) {
  EXPECT_THAT(OpenTimes(WindowsFrom("0 22 * * * 2h"), Monday(23h), Monday(30h), 10),
              ElementsAre(OpenTime{Monday(23h), Monday(24h)}));
}

TEST(OpenTimesTest, WindowsThatMeetOrOverlapAreOne) {
  EXPECT_THAT(OpenTimes(WindowsFrom("0 22 * * * 2h; 0 23 * * * 2h; 0 1 * * * 1h"), Monday(12h),
                        Monday(36h), 10),
              ElementsAre(OpenTime{Monday(22h), Monday(26h)}));
}

TEST(OpenTimesTest, AreAsManyAsAreAskedFor) {
  EXPECT_THAT(OpenTimes(WindowsFrom("*/10 * * * * 1m"), Monday(0h), Monday(48h), 5), SizeIs(5));
}

TEST(OpenTimesTest, ThereMayBeNone) {
  EXPECT_THAT(OpenTimes({}, Monday(0h), Monday(48h), 10), IsEmpty());
  EXPECT_THAT(OpenTimes(WindowsFrom("0 0 29 2 * 1h"), Monday(0h), Monday(48h), 10), IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
