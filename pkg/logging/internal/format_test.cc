#include "kubexx/logging/internal/format.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::logging::internal {
namespace {

const base::WallTime kTime = base::WallTime() + std::chrono::milliseconds(1700000000123);

std::string Text(std::string_view message, const std::vector<OwnedField>& fields = {}) {
  return FormatText({Level::kInfo, kTime, message, fields});
}

std::string Json(std::string_view message, const std::vector<OwnedField>& fields = {}) {
  return FormatJson({Level::kWarning, kTime, message, fields});
}

struct Case {
  std::string_view name;
  std::string value;
  std::string text;
  std::string json;
};

class ValueTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValueTest, IsEscapedInBothFormats) {
  const Case& c = GetParam();
  EXPECT_EQ(Text("m", {{"k", c.value}}),
            "time=\"2023-11-14T22:13:20.123Z\" level=info msg=m k=" + c.text + "\n");
  EXPECT_EQ(Json("m", {{"k", c.value}}),
            "{\"level\":\"warning\",\"msg\":\"m\",\"time\":\"2023-11-14T22:13:20.123Z\",\"k\":" +
                c.json + "}\n");
}

INSTANTIATE_TEST_SUITE_P(
    Values, ValueTest,
    ::testing::Values(
        Case{"Plain", "apps/v1-a_b.c@d^e+f", "apps/v1-a_b.c@d^e+f", "\"apps/v1-a_b.c@d^e+f\""},
        Case{"Empty", "", "\"\"", "\"\""}, Case{"Space", "a b", "\"a b\"", "\"a b\""},
        Case{"Equals", "a=b", "\"a=b\"", "\"a=b\""},
        Case{"QuoteAndBackslash", "a\"\\", R"("a\"\\")", R"("a\"\\")"},
        Case{"Newlines", "a\r\n\tb", R"("a\r\n\tb")", R"("a\r\n\tb")"},
        Case{"Nul", std::string("a\0b", 3), R"("a\x00b")", R"("a\u0000b")"},
        Case{"TerminalEscape", "\x1b[31m", R"("\x1b[31m")", R"("\u001b[31m")"},
        Case{"Delete", "\x7f", R"("\x7f")", R"("\u007f")"},
        Case{"C1Control", "\xc2\x9b", R"("\u009b")", R"("\u009b")"},
        Case{"Utf8", "grün 猫", "\"grün 猫\"", "\"grün 猫\""},
        Case{"Astral", "😀", "\"😀\"", "\"😀\""},
        Case{"BidiOverride", "a\u202eb", R"("a\u202eb")", R"("a\u202eb")"},
        Case{"AstralTag", "\U000E0041", R"("\U000e0041")", R"("\udb40\udc41")"},
        Case{"LoneByte",
             "a\xff"
             "b",
             R"("a\xffb")", R"("a\ufffdb")"},
        Case{"Truncated", "\xe2\x82", R"("\xe2\x82")", R"("\ufffd\ufffd")"},
        Case{"Overlong", "\xc0\xaf", R"("\xc0\xaf")", R"("\ufffd\ufffd")"},
        Case{"Surrogate", "\xed\xa0\x80", R"("\xed\xa0\x80")", R"("\ufffd\ufffd\ufffd")"},
        Case{"TooLarge", "\xf4\x90\x80\x80", R"("\xf4\x90\x80\x80")",
             R"("\ufffd\ufffd\ufffd\ufffd")"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(FormatTest, MessageIsQuotedOnlyWhenNeeded) {
  EXPECT_NE(Text("started").find(" msg=started\n"), std::string::npos);
  EXPECT_NE(Text("two words").find(" msg=\"two words\"\n"), std::string::npos);
}

TEST(FormatTest, ReservedKeysArePrefixed) {
  EXPECT_NE(Text("m", {{"msg", "x"}}).find(" fields.msg=x"), std::string::npos);
  EXPECT_NE(Json("m", {{"level", "x"}}).find("\"fields.level\":\"x\""), std::string::npos);
}

TEST(FormatTest, KeysAreEscapedToo) {
  EXPECT_NE(Text("m", {{"a b", "x"}}).find(" \"a b\"=x"), std::string::npos);
  EXPECT_NE(Json("m", {{"a\"", "x"}}).find("\"a\\\"\":\"x\""), std::string::npos);
}

TEST(FormatTest, OnlyJsonLiteralsAreBare) {
  EXPECT_NE(Json("m", {{"k", "12", false}}).find("\"k\":12}"), std::string::npos);
  EXPECT_NE(Json("m", {{"k", "-1.5e-09", false}}).find("\"k\":-1.5e-09}"), std::string::npos);
  EXPECT_NE(Json("m", {{"k", "true", false}}).find("\"k\":true}"), std::string::npos);
  EXPECT_NE(Json("m", {{"k", "NaN", false}}).find("\"k\":\"NaN\"}"), std::string::npos);
  EXPECT_NE(Json("m", {{"k", "+Inf", false}}).find("\"k\":\"+Inf\"}"), std::string::npos);
  EXPECT_NE(Json("m", {{"k", "1-2", false}}).find("\"k\":\"1-2\"}"), std::string::npos);
}

TEST(FormatTest, TimeBefore1970HasPositiveMilliseconds) {
  EXPECT_EQ(FormatTime(base::WallTime() - std::chrono::milliseconds(1)),
            "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace kubexx::logging::internal
