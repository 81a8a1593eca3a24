#include "kubexx/rest/internal/message/warning.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kubexx::rest::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(std::string_view header) {
  std::vector<std::string> texts;
  for (const Warning& warning : ParseWarnings(header)) {
    texts.push_back(warning.text);
  }
  return texts;
}

TEST(WarningTest, ReadsOneAndMore) {
  EXPECT_THAT(Texts(R"(299 - "batch/v1beta1 CronJob is deprecated")"),
              ElementsAre("batch/v1beta1 CronJob is deprecated"));
  EXPECT_THAT(
      Texts(
          R"(299 - "one, two", 299 agent "say \"hi\"" "Wed, 21 Oct 2026 07:28:00 GMT",299 - "c")"),
      ElementsAre("one, two", "say \"hi\"", "c"));
}

TEST(WarningTest, GivesCodeAndAgent) {
  EXPECT_THAT(ParseWarnings(R"(199 a "misc", 299 - "")"),
              ElementsAre(Warning{.code = 199, .agent = "a", .text = "misc"},
                          Warning{.code = 299, .agent = "-", .text = ""}));
}

TEST(WarningTest, AMalformedEntryEndsTheHeader) {
  for (const std::string bad :
       {"", " ", "299", "299 -", "299 - ", "299 - text", "299 - \"open", "299 - \"open\\",
        "29 - \"a\"", "2999 - \"a\"", "29x - \"a\"", "299  \"a\"", "299 - \"a\tb\"",
        "299 - \"a\" \"date", "299 - \"a\" x"}) {
    EXPECT_THAT(Texts(bad), IsEmpty()) << bad;
    EXPECT_THAT(Texts("299 - \"good\", " + bad), ElementsAre("good")) << bad;
  }
}

}  // namespace
}  // namespace kubexx::rest::internal
