#include "kubexx/apimachinery/time.h"

#include <gtest/gtest.h>

#include <limits>

namespace kubexx::apimachinery {
namespace {

// The test's name is the index of its case.
constexpr auto TimeCaseName = [](const auto& test) { return std::to_string(test.index); };

struct Moment {
  std::string_view text;
  std::int64_t seconds;
  std::string_view canonical;
};

class TimeText : public ::testing::TestWithParam<Moment> {};

TEST_P(TimeText, ParsesAndPrintsInUtc) {
  const auto time = Time::Parse(GetParam().text);
  ASSERT_TRUE(time.has_value()) << GetParam().text;
  EXPECT_EQ(time->seconds, GetParam().seconds);
  EXPECT_EQ(time->ToString(), GetParam().canonical);
}

constexpr Moment kMoments[] = {
    {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
    {"2006-01-02T15:04:05Z", 1136214245, "2006-01-02T15:04:05Z"},
    {"2006-01-02T15:04:05.999999999Z", 1136214245, "2006-01-02T15:04:05Z"},
    {"2006-01-02T15:04:05-07:00", 1136239445, "2006-01-02T22:04:05Z"},
    {"2024-02-29T23:59:59+23:59", 1709164859, "2024-02-29T00:00:59Z"},
    {"2000-02-29T00:00:00Z", 951782400, "2000-02-29T00:00:00Z"},
    {"1969-12-31T23:59:59Z", -1, "1969-12-31T23:59:59Z"},
    {"0001-01-01T00:00:00Z", kZeroTimeSeconds, "0001-01-01T00:00:00Z"},
    {"0000-01-01T00:00:00Z", -62167219200, "0000-01-01T00:00:00Z"},
    {"9999-12-31T23:59:59Z", 253402300799, "9999-12-31T23:59:59Z"},
};
INSTANTIATE_TEST_SUITE_P(Moments, TimeText, ::testing::ValuesIn(kMoments), TimeCaseName);

TEST(Time, RefusesWhatIsNotRfc3339) {
  for (const std::string_view text : {"",
                                      "2006-01-02",
                                      "2006-01-02 15:04:05Z",
                                      "2006-01-02T15:04:05",
                                      "2006-1-02T15:04:05Z",
                                      "2006-13-02T15:04:05Z",
                                      "2006-00-02T15:04:05Z",
                                      "2006-01-00T15:04:05Z",
                                      "2006-02-29T15:04:05Z",
                                      "1900-02-29T00:00:00Z",
                                      "2006-01-02T24:04:05Z",
                                      "2006-01-02T15:60:05Z",
                                      "2006-01-02T15:04:60Z",
                                      "2006-01-02T15:04:05.Z",
                                      "2006-01-02T15:04:05z",
                                      "2006-01-02T15:04:05+7:00",
                                      "2006-01-02T15:04:05+24:00",
                                      "2006-01-02T15:04:05+07:60",
                                      "2006-01-02T15:04:05ZZ",
                                      "12006-01-02T15:04:05Z",
                                      "-006-01-02T15:04:05Z"}) {
    EXPECT_FALSE(Time::Parse(text).has_value()) << text;
    EXPECT_FALSE(MicroTime::Parse(text).has_value()) << text;
  }
}

TEST(Time, IsZeroAtGosZeroTime) {
  EXPECT_TRUE(Time().IsZero());
  EXPECT_TRUE(Time::Parse("0001-01-01T00:00:00Z")->IsZero());
  EXPECT_FALSE(Time{0}.IsZero());
}

TEST(Time, PrintsAnySecondsWithoutOverflow) {
  EXPECT_EQ(Time{std::numeric_limits<std::int64_t>::max()}.ToString(),
            "292277026596-12-04T15:30:07Z");
  EXPECT_EQ(Time{std::numeric_limits<std::int64_t>::min()}.ToString(),
            "-292277022657-01-27T08:29:52Z");
}

TEST(Time, EveryDayOfFourCenturiesComesBack) {
  for (std::int64_t day = -150'000; day < 150'000; day += 1) {
    const Time time{day * 86400 + 12345};
    const auto parsed = Time::Parse(time.ToString());
    ASSERT_TRUE(parsed.has_value()) << time.ToString();
    ASSERT_EQ(parsed->seconds, time.seconds);
  }
}

TEST(Time, ComesFromTheSystemClock) {
  using std::chrono::system_clock;
  const auto point = system_clock::time_point(std::chrono::microseconds(-1));
  EXPECT_EQ(Time::From(point), Time{-1});
  EXPECT_EQ(MicroTime::From(point), (MicroTime{-1, 999'999'000}));
}

TEST(MicroTime, KeepsMicroseconds) {
  const auto time = MicroTime::Parse("2006-01-02T15:04:05.123456789+01:00");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->nanos, 123'456'000);
  EXPECT_EQ(time->ToString(), "2006-01-02T14:04:05.123456Z");
  EXPECT_EQ((MicroTime{0, 1000}).ToString(), "1970-01-01T00:00:00.000001Z");
}

TEST(DateTime, KeepsItsText) {
  const DateTime time = DateTime::FromText("2006-01-02T15:04:05.123456789+01:00");
  EXPECT_EQ(time.ToString(), "2006-01-02T15:04:05.123456789+01:00");
  EXPECT_EQ(time.ToTime()->ToString(), "2006-01-02T14:04:05Z");
  EXPECT_EQ(time.ToMicroTime()->ToString(), "2006-01-02T14:04:05.123456Z");
  const DateTime other = DateTime::FromText("soon");
  EXPECT_EQ(other.ToString(), "soon");
  ASSERT_FALSE(other.ToTime().has_value());
  EXPECT_EQ(other.ToTime().error().reason, Reason::kMalformed);
}

TEST(DateTime, IsMadeOfOtherTimes) {
  EXPECT_EQ(DateTime(Time{0}).ToString(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(DateTime(MicroTime{0, 1000}).ToString(), "1970-01-01T00:00:00.000001Z");
  EXPECT_TRUE(DateTime(Time()).IsZero() && DateTime(MicroTime()).IsZero() && DateTime().IsZero());
}

// Expected values: Go's time.ParseDuration(text) and its String().
struct Span {
  std::string_view text;
  std::int64_t nanos;
  std::string_view canonical;
};

class DurationText : public ::testing::TestWithParam<Span> {};

TEST_P(DurationText, ParsesAndPrintsAsGo) {
  const auto duration = Duration::Parse(GetParam().text);
  ASSERT_TRUE(duration.has_value()) << GetParam().text;
  EXPECT_EQ(duration->nanos, GetParam().nanos);
  EXPECT_EQ(duration->ToString(), GetParam().canonical);
}

constexpr std::int64_t kMaxSeconds = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinSeconds = std::numeric_limits<std::int64_t>::min();
constexpr Span kSpans[] = {
    {"0", 0, "0s"},
    {"-0", 0, "0s"},
    {"0s", 0, "0s"},
    {"1h", 3600000000000, "1h0m0s"},
    {"1.5h", 5400000000000, "1h30m0s"},
    {"1h1m1s", 3661000000000, "1h1m1s"},
    {"1h60m", 7200000000000, "2h0m0s"},
    {"1ms", 1000000, "1ms"},
    {"1us", 1000, "1\u00b5s"},
    {"1\u00b5s", 1000, "1\u00b5s"},
    {"1\u03bcs", 1000, "1\u00b5s"},
    {"1ns", 1, "1ns"},
    {"1.5ms", 1500000, "1.5ms"},
    {"-1.5s", -1500000000, "-1.5s"},
    {"+5s", 5000000000, "5s"},
    {"1.s", 1000000000, "1s"},
    {".5s", 500000000, "500ms"},
    {"1.1m", 66000000000, "1m6s"},
    {"72h3m0.5s", 259380500000000, "72h3m0.5s"},
    {"3.000000001s", 3000000001, "3.000000001s"},
    {"0.3333333333333333333h", 1200000000000, "20m0s"},
    {"1.0000000000000000000000000000000000001s", 1000000000, "1s"},
    {"0.9999999999ns", 0, "0s"},
    {"999999ns", 999999, "999.999\u00b5s"},
    {"3599s", 3599000000000, "59m59s"},
    {"9223372036.854775807s", kMaxSeconds, "2562047h47m16.854775807s"},
    {"-9223372036854775808ns", kMinSeconds, "-2562047h47m16.854775808s"},
};
INSTANTIATE_TEST_SUITE_P(Spans, DurationText, ::testing::ValuesIn(kSpans), TimeCaseName);

TEST(Duration, RefusesWhatGoRefuses) {
  for (const std::string_view text :
       {"", "-", "+", ".", ".s", "1", "1d", "1h-2m", "1 h", "s", "h1", "1h 2m",
        "9223372036.854775808s", "9223372036854775808ns", "100000000000000000000ns",
        "-9223372036854775809ns", "3000000h", "00"}) {
    EXPECT_FALSE(Duration::Parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace kubexx::apimachinery
