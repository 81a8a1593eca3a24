#include "kubexx/codec/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::codec {
namespace {

TEST(Base64, IsPaddedStandardBase64) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(EncodeBase64(std::string("\xfb\xff\x00", 3)), "+/8A");
}

TEST(Base64, IsReadAcrossLineBreaks) {
  std::string bytes = "x";
  EXPECT_TRUE(DecodeBase64("Zm9v\r\nYmE=\n", bytes));
  EXPECT_EQ(bytes, "xfooba");
}

TEST(Base64, IsRefusedWhenItIsMalformed) {
  for (const char* const text :
       {"Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "=", "Zm9 v", "Zm9_", "Zg=g"}) {
    std::string bytes;
    EXPECT_FALSE(DecodeBase64(text, bytes)) << text;
  }
}

}  // namespace
}  // namespace kubexx::codec
