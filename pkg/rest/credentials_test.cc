#include "kubexx/rest/internal/credentials/credentials.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using base::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

const RestMetrics& NoMetrics() {
  static const RestMetrics metrics(nullptr, "", base::Clock::Real());
  return metrics;
}

std::string Header(Credentials& credentials) {
  const auto got = credentials.Get({});
  return got ? got->authorization : got.error().ToString();
}

TEST(CredentialsTest, NoneGivesNoHeader) {
  const Config config;
  const auto credentials = Credentials::New(config, base::Clock::Real(), NoMetrics());
  ASSERT_TRUE(credentials);
  EXPECT_EQ(Header(**credentials), "");
  EXPECT_FALSE((*credentials)->Renew(0));
}

TEST(CredentialsTest, RefusedTokenIsReadAgainAtOnceButNotAllTheTime) {
  base::testing::FakeClock clock;
  const TemporaryFolder dir;
  const Config config{.bearer_token_file = dir.Write("token", "one")};
  const auto credentials = Credentials::New(config, clock, NoMetrics());
  ASSERT_TRUE(credentials);
  clock.Advance(std::chrono::seconds(5));
  const auto first = (*credentials)->Get({});
  ASSERT_TRUE(first);
  EXPECT_FALSE((*credentials)->Renew(first->generation)) << "the file has the same token";
  dir.Write("token", "two");
  EXPECT_FALSE((*credentials)->Renew(first->generation)) << "it has just been read";
  clock.Advance(std::chrono::seconds(5));
  EXPECT_TRUE((*credentials)->Renew(first->generation));
  EXPECT_EQ(Header(**credentials), "Bearer two");
  EXPECT_TRUE((*credentials)->Renew(first->generation)) << "another request of the old token";
}

TEST(CredentialsTest, TokenFileIsReadAgainOnceAMinuteAndTheLastGoodTokenKept) {
  base::testing::FakeClock clock;
  const TemporaryFolder dir;
  const std::string file = dir.Write("token", "one\n");
  const Config config{.bearer_token_file = file};
  const auto credentials = Credentials::New(config, clock, NoMetrics());
  ASSERT_TRUE(credentials) << credentials.error().ToString();
  EXPECT_EQ(Header(**credentials), "Bearer one");
  dir.Write("token", "two");
  clock.Advance(std::chrono::seconds(49));
  EXPECT_EQ(Header(**credentials), "Bearer one") << "not read at every request";
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Header(**credentials), "Bearer two");
  for (const std::string bad : {"", " \n", "a\x01b"}) {
    dir.Write("token", bad);
    clock.Advance(std::chrono::minutes(1));
    EXPECT_EQ(Header(**credentials), "Bearer two");
  }
  std::filesystem::remove(file);
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Header(**credentials), "Bearer two");
  dir.Write("token", "three");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Header(**credentials), "Bearer three");
}

TEST(CredentialsTest, FileWinsOverTokenWhichServesUntilTheFileIsThere) {
  base::testing::FakeClock clock;
  const TemporaryFolder dir;
  const std::string file = dir.path() + "/token";
  const Config config{.bearer_token = "fixed", .bearer_token_file = file};
  const auto credentials = Credentials::New(config, clock, NoMetrics());
  ASSERT_TRUE(credentials) << credentials.error().ToString();
  EXPECT_EQ(Header(**credentials), "Bearer fixed");
  dir.Write("token", "file");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Header(**credentials), "Bearer file");
}

TEST(CredentialsTest, RefusesWhatCannotWorkWithoutShowingIt) {
  const TemporaryFolder dir;
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
             "tokenFile: cannot read " + dir.path() + "/none: No such"},
        Case{{.bearer_token_file = dir.Write("empty", "")}, "is empty"}}) {
    const auto credentials = Credentials::New(c.config, base::Clock::Real(), NoMetrics());
    ASSERT_FALSE(credentials) << c.message;
    EXPECT_EQ(credentials.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(credentials.error().message, HasSubstr(c.message));
    EXPECT_THAT(credentials.error().message, Not(HasSubstr("SECRET")));
  }
}

}  // namespace
}  // namespace kubexx::rest::internal
