#include "kubexx/reloader/observe/one_line.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(ToOneLine, LeavesWhatCanBeSeen) {
  EXPECT_EQ(ToOneLine("a \"b\" \\c \u00e4\u4e2d"), "a \"b\" \\c \u00e4\u4e2d");
}

TEST(ToOneLine, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(ToOneLine("a\nb\tc\x1b[2J"), "a\\nb\\tc\\x1b[2J");
  EXPECT_EQ(ToOneLine("\u202eevil\u2066"), "\\u202eevil\\u2066");
  EXPECT_EQ(ToOneLine("\xff"), "\ufffd");
}

// As log lines do it.
TEST(ToOneLine, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(ToOneLine("pas\u200bswd\u00ad\ufeff\u2060"), "pas\\u200bswd\\xad\\ufeff\\u2060");
  EXPECT_EQ(ToOneLine("\U000e0041"), "\\U000e0041");
}

}  // namespace
}  // namespace kubexx::reloader
