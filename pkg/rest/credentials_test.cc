#include "kubexx/rest/internal/credentials.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using rest::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CredentialsTest, NoneGivesNoHeader) {
  const auto credentials = Credentials::New({}, base::Clock::Real());
  ASSERT_TRUE(credentials);
  EXPECT_EQ((*credentials)->Authorization(), "");
}

TEST(CredentialsTest, TokenFileIsReadAgainOnceAMinuteAndTheLastGoodTokenKept) {
  base::testing::FakeClock clock;
  const TempDir dir;
  const std::string file = dir.Write("token", "one\n");
  const auto credentials = Credentials::New({.bearer_token_file = file}, clock);
  ASSERT_TRUE(credentials) << credentials.error().ToString();
  EXPECT_EQ((*credentials)->Authorization(), "Bearer one");
  dir.Write("token", "two");
  clock.Advance(std::chrono::seconds(49));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer one") << "not read at every request";
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer two");
  for (const std::string bad : {"", " \n", "a\x01b"}) {
    dir.Write("token", bad);
    clock.Advance(std::chrono::minutes(1));
    EXPECT_EQ((*credentials)->Authorization(), "Bearer two");
  }
  std::filesystem::remove(file);
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer two");
  dir.Write("token", "three");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer three");
}

TEST(CredentialsTest, FileWinsOverTokenWhichServesUntilTheFileIsThere) {
  base::testing::FakeClock clock;
  const TempDir dir;
  const std::string file = dir.path() + "/token";
  const auto credentials =
      Credentials::New({.bearer_token = "fixed", .bearer_token_file = file}, clock);
  ASSERT_TRUE(credentials) << credentials.error().ToString();
  EXPECT_EQ((*credentials)->Authorization(), "Bearer fixed");
  dir.Write("token", "file");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ((*credentials)->Authorization(), "Bearer file");
}

TEST(CredentialsTest, RefusesWhatCannotWorkWithoutShowingIt) {
  const TempDir dir;
  struct Case {
    Config config;
    std::string message;
  };
  for (const Case& c :
       {Case{{.bearer_token = "SECRET", .username = "u"}, "only one can be used"},
        Case{{.bearer_token = "SE\nCRET"}, "token: has control characters"},
        Case{{.bearer_token = "  "}, "token: is empty"},
        Case{{.username = "a:SECRET", .password = "p"}, "username must not contain"},
        Case{{.bearer_token_file = dir.path() + "/none"},
             "tokenFile " + dir.path() + "/none: No such"},
        Case{{.bearer_token_file = dir.Write("empty", "")}, "is empty"}}) {
    const auto credentials = Credentials::New(c.config, base::Clock::Real());
    ASSERT_FALSE(credentials) << c.message;
    EXPECT_EQ(credentials.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(credentials.error().message, HasSubstr(c.message));
    EXPECT_THAT(credentials.error().message, Not(HasSubstr("SECRET")));
  }
}

}  // namespace
}  // namespace kubexx::rest::internal
