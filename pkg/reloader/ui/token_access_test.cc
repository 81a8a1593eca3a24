#include "kubexx/reloader/ui/token_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Headers = std::vector<std::pair<std::string, std::string>>;

class TokenAccessTest : public ::testing::Test {
 protected:
  static Headers Bearer(const std::string& token) {
    return {{"Host", "page.example.com"}, {"Authorization", "Bearer " + token}};
  }
  static Headers With(const std::string& cookie) {
    return {{"Host", "page.example.com"}, {"Cookie", cookie}};
  }
  static http::Request RequestOf(std::string method, std::string path, Headers headers) {
    return {.path = std::move(path), .method = std::move(method), .headers = std::move(headers)};
  }
  std::optional<http::Response> Ask(const std::string& path, Headers headers,
                                    const std::string& method = "GET") {
    return access_.Answer(RequestOf(method, path, std::move(headers)));
  }
  int StatusOf(const std::string& path, Headers headers, const std::string& method = "GET") {
    const auto answer = Ask(path, std::move(headers), method);
    return answer ? answer->status : 200;
  }
  /// Signs in, and returns the cookie as a browser sends it.
  std::string SignIn(const std::string& token) {
    const auto answer = Ask("/session", Bearer(token), "POST");
    EXPECT_EQ(answer->status, 204) << answer->body;
    EXPECT_THAT(answer->headers,
                ElementsAre(Pair("Set-Cookie",
                                 AllOf(StartsWith("__Host-kubexx-reloader-ui="),
                                       HasSubstr("; HttpOnly; Secure; SameSite=Strict; Path=/"),
                                       Not(HasSubstr(token))))));
    const std::string& cookie = answer->headers.front().second;
    return cookie.substr(0, cookie.find(';'));
  }

  base::testing::FakeClock clock_;
  std::vector<std::string> reviewed_;
  /// Those of one user differ in what follows a dash.
  std::vector<std::string> good_{"Bearer good"};
  int refusal_ = 401;
  TokenAccess access_{
      {.review = [this](const http::Request& request) -> TokenAccess::Review {
         EXPECT_EQ(request.path, kPageUrl);
         EXPECT_EQ(request.method, "GET");
         const std::string& shown =
             reviewed_.emplace_back(std::string(request.Header("Authorization")));
         if (std::ranges::find(good_, shown) != good_.end()) {
           return {.user = shown.substr(0, shown.find('-'))};
         }
         return {.refusal = http::Response{.status = refusal_, .body = "Denied for user eve\n"}};
       },
       .max_sessions = 3,
       .attempts_per_second = 1,
       .attempts_at_once = 4,
       .clock = clock_}};
};

TEST_F(TokenAccessTest, WithoutATokenNothingIsShownAndNobodyIsAsked) {
  const auto page = Ask("/", {{"Host", "page.example.com"}});
  EXPECT_EQ(page->status, 401);
  EXPECT_THAT(page->body, HasSubstr("sign-in.js"));
  for (const char* path : {"/app.js", "/events", "/workload", "/source", "/session", "/nothing"}) {
    const auto answer = Ask(path, {{"Host", "page.example.com"}});
    EXPECT_EQ(answer->status, 401) << path;
    EXPECT_EQ(answer->body, R"({"by":"token"})") << path;
    EXPECT_EQ(StatusOf(path, With("__Host-kubexx-reloader-ui=")), 401) << path;
    EXPECT_EQ(StatusOf(path, With("__Host-kubexx-reloader-ui=good")), 401) << path;
    EXPECT_EQ(StatusOf(path, {{"Authorization", "Basic good"}}), 401) << path;
    EXPECT_EQ(StatusOf(path, {{"Authorization", "Bearer  "}}), 401) << path;
  }
  for (const char* path : {"/style.css", "/icon.svg", "/sign-in.js"}) {
    EXPECT_EQ(StatusOf(path, {}), 200) << path;
  }
  EXPECT_EQ(StatusOf("/session", {}, "POST"), 400);
  EXPECT_THAT(reviewed_, IsEmpty());
}

TEST_F(TokenAccessTest, ACookieStandsForTheTokenUntilTheUserSignsOut) {
  const std::string cookie = SignIn("good");
  const http::Request request = RequestOf("GET", "/events", With(cookie));
  EXPECT_TRUE(access_.ClientOf(request));
  EXPECT_EQ(StatusOf("/", With(cookie)), 200);
  EXPECT_EQ(Ask("/session", With(cookie))->body, R"({"by":"token"})");
  EXPECT_EQ(Ask("/session", With(cookie))->status, 200);
  EXPECT_THAT(reviewed_, Contains("Bearer good").Times(4)) << "each request is reviewed";
  const auto out = Ask("/session", With(cookie), "DELETE");
  EXPECT_EQ(out->status, 204);
  EXPECT_THAT(out->headers, ElementsAre(Pair("Set-Cookie", HasSubstr("Max-Age=0"))));
  EXPECT_FALSE(access_.ClientOf(request));
  EXPECT_EQ(StatusOf("/", With(cookie)), 401);
  EXPECT_EQ(access_.sessions(), 0);
}

TEST_F(TokenAccessTest, ASessionEndsWithItsToken) {
  const std::string cookie = SignIn("good");
  good_.clear();
  refusal_ = 500;
  EXPECT_EQ(StatusOf("/events", With(cookie)), 200) << "nobody knows";
  refusal_ = 401;
  EXPECT_EQ(StatusOf("/events", With(cookie)), 401);
  good_ = {"Bearer good"};
  EXPECT_EQ(StatusOf("/events", With(cookie)), 200) << "it was the API server's trouble";
  good_.clear();
  clock_.Advance(std::chrono::minutes(11));
  refusal_ = 500;
  EXPECT_EQ(StatusOf("/events", With(cookie)), 500) << "nobody has known for long";
  EXPECT_EQ(access_.sessions(), 1);
  refusal_ = 401;
  EXPECT_EQ(StatusOf("/events", With(cookie)), 401);
  EXPECT_EQ(access_.sessions(), 0);
  good_ = {"Bearer good"};
  EXPECT_EQ(StatusOf("/events", With(cookie)), 401) << "it does not come back";
}

TEST_F(TokenAccessTest, WhoWasRefusedIsNotInWhileNobodyKnows) {
  for (const int refusal : {401, 403}) {
    good_ = {"Bearer good"};
    const std::string cookie = SignIn("good");
    const http::Request request = RequestOf("GET", "/events", With(cookie));
    good_.clear();
    refusal_ = refusal;
    EXPECT_EQ(StatusOf("/events", With(cookie)), refusal);
    EXPECT_FALSE(access_.ClientOf(request)) << "the last that is known is a refusal";
    refusal_ = 500;
    EXPECT_EQ(StatusOf("/events", With(cookie)), 500);
    good_ = {"Bearer good"};
    EXPECT_EQ(StatusOf("/events", With(cookie)), 200) << "it was the API server's trouble";
    EXPECT_TRUE(access_.ClientOf(request));
    good_.clear();
    EXPECT_EQ(StatusOf("/events", With(cookie)), 200) << "nobody knows";
  }
}

TEST_F(TokenAccessTest, ARefusalCountsForAllThatStandsForTheToken) {
  const std::string cookie = SignIn("good");
  const std::string other = SignIn("good");
  EXPECT_EQ(StatusOf("/events", Bearer("good")), 200);
  good_.clear();
  EXPECT_EQ(StatusOf("/events", With(cookie)), 401);
  refusal_ = 500;
  EXPECT_EQ(StatusOf("/events", With(other)), 500);
  EXPECT_EQ(StatusOf("/events", Bearer("good")), 500);
}

TEST_F(TokenAccessTest, ASessionThatIsNotUsedEnds) {
  const std::string cookie = SignIn("good");
  clock_.Advance(std::chrono::hours(7));
  EXPECT_EQ(StatusOf("/", With(cookie)), 200);
  clock_.Advance(std::chrono::hours(7));
  EXPECT_EQ(StatusOf("/", With(cookie)), 200);
  clock_.Advance(std::chrono::hours(9));
  EXPECT_EQ(StatusOf("/", With(cookie)), 401);
}

TEST_F(TokenAccessTest, ThereAreOnlySoManySessions) {
  std::vector<std::string> cookies;
  for (int i = 0; i < 4; ++i) {
    cookies.push_back(SignIn("good"));
    clock_.Advance(std::chrono::seconds(1));
    EXPECT_EQ(StatusOf("/", With(cookies.front())), 200);
  }
  EXPECT_EQ(access_.sessions(), 3);
  EXPECT_EQ(StatusOf("/", With(cookies[0])), 200) << "it has been used";
  EXPECT_EQ(StatusOf("/", With(cookies[1])), 401) << "it has been idle for longest";
  EXPECT_EQ(StatusOf("/", With(cookies[3])), 200);
}

TEST_F(TokenAccessTest, WhoHasMostSessionsLosesOne) {
  good_ = {"Bearer ann", "Bearer bob"};
  const std::string ann = SignIn("ann");
  std::string bob;
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(std::chrono::seconds(1));
    bob = SignIn("bob");
  }
  EXPECT_EQ(access_.sessions(), 3);
  EXPECT_EQ(StatusOf("/", With(ann)), 200) << "though it has not been used for longest";
  EXPECT_EQ(StatusOf("/", With(bob)), 200);
}

TEST_F(TokenAccessTest, WhoShowsManyTokensMakesNobodyElseAStranger) {
  good_ = {"Bearer ann"};
  EXPECT_EQ(StatusOf("/", Bearer("ann")), 200);
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(std::chrono::seconds(1));
    const std::string token = "bob-" + std::to_string(i);
    good_.push_back("Bearer " + token);
    EXPECT_EQ(StatusOf("/", Bearer(token)), 200);
  }
  EXPECT_TRUE(access_.ClientOf(RequestOf("GET", "/", Bearer("ann"))));
}

TEST_F(TokenAccessTest, AllThatAUserHasIsOfOneClient) {
  good_ = {"Bearer ann-1", "Bearer ann-2", "Bearer bob"};
  const auto client_of = [&](Headers headers) {
    return access_.ClientOf(RequestOf("GET", "/", std::move(headers)));
  };
  EXPECT_EQ(StatusOf("/", Bearer("ann-1")), 200);
  const auto ann = client_of(Bearer("ann-1"));
  EXPECT_TRUE(ann);
  EXPECT_EQ(client_of(With(SignIn("ann-1"))), ann);
  EXPECT_EQ(client_of(With(SignIn("ann-2"))), ann);
  EXPECT_NE(client_of(With(SignIn("bob"))), ann);
}

TEST_F(TokenAccessTest, ASessionBeginsOnlyWithATokenThatIsAcceptedNow) {
  EXPECT_EQ(StatusOf("/", Bearer("good")), 200);
  good_.clear();
  refusal_ = 500;
  EXPECT_EQ(StatusOf("/", Bearer("good")), 200) << "nobody knows";
  EXPECT_EQ(StatusOf("/session", Bearer("good"), "POST"), 500);
  EXPECT_EQ(access_.sessions(), 0);
}

TEST_F(TokenAccessTest, WhoSignsInAgainHasOneSession) {
  const std::string first = SignIn("good");
  Headers again = Bearer("good");
  again.emplace_back("Cookie", first);
  EXPECT_EQ(StatusOf("/session", again, "POST"), 204);
  EXPECT_EQ(access_.sessions(), 1);
  EXPECT_EQ(StatusOf("/", With(first)), 401);
}

TEST_F(TokenAccessTest, AProxyShowsTheTokenWithEachRequest) {
  const http::Request request = RequestOf("GET", "/events", Bearer("good"));
  EXPECT_FALSE(access_.ClientOf(request)) << "nobody has reviewed it yet";
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(StatusOf("/events", Bearer("good")), 200) << "a good one is not counted";
  }
  EXPECT_TRUE(access_.ClientOf(request));
  EXPECT_EQ(Ask("/session", Bearer("good"))->body, R"({"by":"header"})");
  good_.clear();
  EXPECT_EQ(StatusOf("/events", Bearer("good")), 401);
  EXPECT_FALSE(access_.ClientOf(request));
}

TEST_F(TokenAccessTest, TokensThatAreNotGoodAreReviewedAtABoundedRate) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatusOf("/session", Bearer("bad" + std::to_string(i)), "POST"), 401);
  }
  const auto refused = Ask("/session", Bearer("bad"), "POST");
  EXPECT_EQ(refused->status, 429);
  EXPECT_THAT(refused->headers, ElementsAre(Pair("Retry-After", "1")));
  EXPECT_EQ(StatusOf("/events", Bearer("bad")), 429);
  EXPECT_THAT(reviewed_, SizeIs(4));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(StatusOf("/session", Bearer("good"), "POST"), 204);
}

TEST_F(TokenAccessTest, GoodTokensAreNeverTooMany) {
  for (int i = 0; i < 50; ++i) {
    const std::string token = "user" + std::to_string(i);
    good_.push_back("Bearer " + token);
    EXPECT_EQ(StatusOf("/events", Bearer(token)), 200) << "as behind a proxy, in the morning";
  }
  EXPECT_EQ(StatusOf("/events", Bearer("bad")), 401);
}

TEST_F(TokenAccessTest, AUserWithoutTheRightIsReviewedNowAndThenOnly) {
  refusal_ = 403;
  for (int i = 0; i < 20; ++i) {
    const auto refused = Ask("/events", Bearer("eve"));
    EXPECT_EQ(refused->status, 403);
    EXPECT_THAT(refused->body, HasSubstr("Denied for user eve"));
  }
  EXPECT_THAT(reviewed_, SizeIs(1));
  good_.emplace_back("Bearer eve");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(StatusOf("/events", Bearer("eve")), 200);
}

TEST_F(TokenAccessTest, ATokenThatWasRefusedIsNotReviewedAgainAtOnce) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(StatusOf("/events", Bearer("old")), 401) << "as of a page that is still open";
  }
  EXPECT_THAT(reviewed_, SizeIs(1));
  EXPECT_EQ(StatusOf("/session", Bearer("good"), "POST"), 204) << "others have their attempts";
  good_.emplace_back("Bearer old");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(StatusOf("/events", Bearer("old")), 200);
}

TEST_F(TokenAccessTest, PagesAtOtherPortsHaveOtherCookies) {
  const auto cookie_at = [&](const std::string& host) {
    const auto answer = Ask("/session", {{"Host", host}, {"Authorization", "Bearer good"}}, "POST");
    const std::string& cookie = answer->headers.front().second;
    return cookie.substr(0, cookie.find('='));
  };
  EXPECT_EQ(cookie_at("localhost"), "__Host-kubexx-reloader-ui");
  EXPECT_EQ(cookie_at("localhost:8443"), "__Host-kubexx-reloader-ui-8443");
  EXPECT_EQ(cookie_at("[::1]:8444"), "__Host-kubexx-reloader-ui-8444");
  EXPECT_EQ(cookie_at("[::1"), "__Host-kubexx-reloader-ui");
  EXPECT_EQ(cookie_at("localhost:1;x"), "__Host-kubexx-reloader-ui");
}

TEST_F(TokenAccessTest, RefusalsSayWhatToDo) {
  EXPECT_THAT(Ask("/session", Bearer("bad"), "POST")->body,
              HasSubstr("does not accept this token"));
  refusal_ = 403;
  const auto forbidden = Ask("/session", Bearer("eve"), "POST");
  EXPECT_EQ(forbidden->status, 403);
  EXPECT_THAT(forbidden->body,
              AllOf(HasSubstr("the verb get on the non-resource URL /kubexx-reloader/page"),
                    HasSubstr("Denied for user eve")));
  refusal_ = 500;
  EXPECT_EQ(StatusOf("/session", Bearer("unknown"), "POST"), 500);
  EXPECT_EQ(access_.sessions(), 0);
}

TEST_F(TokenAccessTest, AProxyMayLeaveThePortOutOfTheHost) {
  Headers headers = Bearer("good");
  headers.emplace_back("Origin", "https://page.example.com:8443");
  const auto refused = Ask("/session", headers, "POST");
  EXPECT_EQ(refused->status, 403) << "an old browser does not say that the page is its own";
  EXPECT_THAT(refused->body,
              AllOf(HasSubstr("https://page.example.com:8443"), HasSubstr("the header Host")));
  headers.emplace_back("Sec-Fetch-Site", "same-origin");
  EXPECT_EQ(StatusOf("/session", headers, "POST"), 204);
}

TEST_F(TokenAccessTest, OtherPagesAndMethodsAreRefused) {
  const std::string cookie = SignIn("good");
  for (const auto& [name, value] : Headers{{"Origin", "https://evil.example.com"},
                                           {"Sec-Fetch-Site", "cross-site"},
                                           {"Sec-Fetch-Site", "same-site"}}) {
    Headers headers = With(cookie);
    headers.emplace_back(name, value);
    EXPECT_EQ(StatusOf("/events", headers), 403) << value;
    EXPECT_EQ(StatusOf("/session", headers, "DELETE"), 403) << value;
  }
  EXPECT_EQ(StatusOf("/", With(cookie), "POST"), 405);
  EXPECT_EQ(StatusOf("/session", With(cookie), "PUT"), 405);
  // A link in another page leads to the way in, because the browser does not send the cookie then.
  EXPECT_EQ(StatusOf("/", {{"Host", "page.example.com"},
                           {"Sec-Fetch-Site", "cross-site"},
                           {"Sec-Fetch-Mode", "navigate"},
                           {"Sec-Fetch-Dest", "document"}}),
            401);
  EXPECT_EQ(access_.sessions(), 1);
}

}  // namespace
}  // namespace kubexx::reloader
