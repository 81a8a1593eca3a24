#include "kubexx/metrics/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "kubexx/metrics/internal/proc_stat.h"

namespace kubexx::metrics {
namespace {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TEST(ProcessMetricsTest, ReportsThisProcess) {
  Registry registry;
  const auto subscription = RegisterProcessMetrics(registry);
  registry.Serialize();
  EXPECT_GT(registry.Gauge("process_resident_memory_bytes", "").Value(), 1e6);
  EXPECT_GT(registry.Gauge("process_virtual_memory_bytes", "").Value(),
            registry.Gauge("process_resident_memory_bytes", "").Value());
  EXPECT_GE(registry.Gauge("process_open_fds", "").Value(), 3);
  EXPECT_GT(registry.Gauge("process_max_fds", "").Value(),
            registry.Gauge("process_open_fds", "").Value());
  EXPECT_GE(registry.Gauge("process_threads", "").Value(), 1);
  EXPECT_NEAR(registry.Gauge("process_start_time_seconds", "").Value(), SecondsNow(), 3600);
}

TEST(ProcessMetricsTest, CpuTimeGrowsWithWork) {
  Registry registry;
  const auto subscription = RegisterProcessMetrics(registry);
  registry.Serialize();
  const double before = registry.Counter("process_cpu_seconds_total", "").Value();
  std::size_t scrapes = 0;
  while (registry.Counter("process_cpu_seconds_total", "").Value() <= before && scrapes < 100000) {
    registry.Serialize();
    ++scrapes;
  }
  EXPECT_GT(registry.Counter("process_cpu_seconds_total", "").Value(), before);
}

TEST(ProcessMetricsTest, OpenFilesAreCounted) {
  Registry registry;
  const auto subscription = RegisterProcessMetrics(registry);
  registry.Serialize();
  const double before = registry.Gauge("process_open_fds", "").Value();
  const std::ifstream file("/proc/self/stat");
  registry.Serialize();
  EXPECT_EQ(registry.Gauge("process_open_fds", "").Value(), before + 1);
}

TEST(ProcStatTest, CommandNameMayHoldAnything) {
  const auto stat = internal::ParseProcStat(
      "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->user_ticks, 11U);
  EXPECT_EQ(stat->system_ticks, 12U);
  EXPECT_EQ(stat->threads, 17U);
  EXPECT_EQ(stat->start_ticks, 19U);
  EXPECT_EQ(stat->virtual_bytes, 20U);
  EXPECT_EQ(stat->resident_pages, 21U);
}

TEST(ProcStatTest, BrokenLinesGiveNothing) {
  for (const std::string line : {"", "1", "1 (x", "1 (x)", "1 (x) S 1 2 3",
                                 "1 (x) S a b c d e f g h i j k l m n o p q r s t u v w"}) {
    EXPECT_FALSE(internal::ParseProcStat(line)) << line;
  }
}

TEST(ProcStatTest, BootTimeIsFoundOnAnyLine) {
  EXPECT_EQ(internal::ParseBootTime("btime 12\n"), 12U);
  EXPECT_EQ(internal::ParseBootTime("cpu 1\nbtime 13\nx"), 13U);
  EXPECT_EQ(internal::ParseBootTime("cpu 1\nxbtime 13\n"), std::nullopt);
  EXPECT_EQ(internal::ParseBootTime("btime x\n"), std::nullopt);
  EXPECT_EQ(internal::ParseBootTime(""), std::nullopt);
}

}  // namespace
}  // namespace kubexx::metrics
