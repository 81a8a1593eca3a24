#include "kubexx/base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace kubexx::base {
namespace {

TEST(DecodeFirstTest, ReadsEachLength) {
  for (const auto& [text, code] : {std::pair<std::string, std::uint32_t>{"A", 0x41},
                                   {"ü", 0xFC},
                                   {"€", 0x20AC},
                                   {"😀", 0x1F600},
                                   {"\xf4\x8f\xbf\xbf", 0x10FFFF},
                                   {"\xed\x9f\xbf", 0xD7FF},
                                   {"\xee\x80\x80", 0xE000}}) {
    const CodePoint point = DecodeFirst(text + "rest");
    EXPECT_TRUE(point.valid) << text;
    EXPECT_EQ(point.code, code);
    EXPECT_EQ(point.size, text.size());
  }
}

TEST(DecodeFirstTest, RefusesWhatIsNotWellFormed) {
  for (const std::string text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xe2\x82",
        "\xe2(\xa1", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
        "\xf8\x88\x80\x80\x80", "\xff"}) {
    const CodePoint point = DecodeFirst(text);
    EXPECT_FALSE(point.valid) << ::testing::PrintToString(text);
    EXPECT_EQ(point.size, 1U);
    EXPECT_EQ(point.code, static_cast<unsigned char>(text[0]));
  }
}

TEST(NeedsEscapeTest, IsTrueOfWhatCannotBeSeenOrChangesALine) {
  for (const std::uint32_t code : {0x0U, 0x1BU, 0x7FU, 0x85U, 0xADU, 0x200BU, 0x200EU, 0x2028U,
                                   0x202EU, 0x2060U, 0x2066U, 0xFEFFU, 0xFFF9U, 0xE0041U}) {
    EXPECT_TRUE(NeedsEscape(code)) << code;
  }
  for (const std::uint32_t code :
       {0x20U, 0x7EU, 0xA0U, 0xE4U, 0x200AU, 0x2010U, 0x4E2DU, 0xFFFDU, 0x1F600U, 0xE0080U}) {
    EXPECT_FALSE(NeedsEscape(code)) << code;
  }
}

TEST(ToValidUtf8Test, ReplacesOnlyBrokenBytes) {
  EXPECT_EQ(ToValidUtf8(""), "");
  EXPECT_EQ(ToValidUtf8("grün 😀"), "grün 😀");
  EXPECT_EQ(ToValidUtf8("a\xff\xfe"
                        "b\xc3"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b\xef\xbf\xbd");
}

TEST(CutUtf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("abcd", 3), "abc");
  EXPECT_EQ(CutUtf8("ab\xc3\xa9", 4), "ab\xc3\xa9");
  EXPECT_EQ(CutUtf8("ab\xc3\xa9", 3), "ab");
  EXPECT_EQ(CutUtf8("a\xf0\x9f\x98\x80z", 4), "a");
  EXPECT_EQ(CutUtf8("", 3), "");
  EXPECT_EQ(CutUtf8(std::string(5000, 'x'), 1024), std::string(1024, 'x'));
}

TEST(CutUtf8Test, RepairsBrokenBytes) {
  EXPECT_EQ(CutUtf8("a\xff", 10), "a\xef\xbf\xbd");
  EXPECT_EQ(CutUtf8("a\xff", 3), "a");
}

}  // namespace
}  // namespace kubexx::base
