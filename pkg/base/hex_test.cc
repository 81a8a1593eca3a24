#include "kubexx/base/hex.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace kubexx::base {
namespace {

TEST(Hex, GivesValuesToHexadecimalDigitsOnly) {
  EXPECT_EQ(HexValue('0'), 0);
  EXPECT_EQ(HexValue('9'), 9);
  EXPECT_EQ(HexValue('a'), 10);
  EXPECT_EQ(HexValue('f'), 15);
  EXPECT_EQ(HexValue('F'), 15);
  for (const char c : {'/', ':', '@', 'G', '`', 'g', '\0', '\xe1'}) {
    EXPECT_EQ(HexValue(c), -1) << c;
  }
}

TEST(Hex, WritesTwoDigitsForEachByte) {
  EXPECT_EQ(ToHex(std::array<std::uint8_t, 4>{0x00, 0x0f, 0xa0, 0xff}), "000fa0ff");
  EXPECT_EQ(ToHex(std::span<const std::uint8_t>()), "");
  std::string text = "x";
  AppendHex(0x1b, text);
  EXPECT_EQ(text, "x1b");
}

}  // namespace
}  // namespace kubexx::base
