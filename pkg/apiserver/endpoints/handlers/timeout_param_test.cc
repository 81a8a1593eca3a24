#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class TimeoutParamTest : public testing::ApiFixture {};

TEST_F(TimeoutParamTest, MustBeADuration) {
  for (const char* const path : {"/version", "/api/v1/namespaces"}) {
    for (const char* const good : {"", "32s", "0s", "0", "-1s", "1h30m", "99999h"}) {
      EXPECT_EQ(Do("GET", std::string(path) + "?timeout=" + good).status, 200) << path << good;
    }
    for (const auto& [bad, why] : {std::pair("invalid", "time: invalid duration \"invalid\""),
                                   std::pair("10", "time: missing unit in duration \"10\""),
                                   std::pair("1d", "time: unknown unit \"d\" in duration \"1d\""),
                                   std::pair("1h2", "time: missing unit in duration \"1h2\""),
                                   std::pair(".s", "time: invalid duration \".s\""),
                                   std::pair("-", "time: invalid duration \"-\""),
                                   std::pair("9999999h", "time: invalid duration \"9999999h\"")}) {
      const http::Response refused = Do("GET", std::string(path) + "?timeout=" + bad);
      EXPECT_EQ(refused.status, 400) << path << bad;
      EXPECT_EQ(Message(refused),
                std::string("invalid timeout specified in the request URL - ") + why);
    }
  }
}

// A client that asks for the health need not be known, so its parameters are not read: it may send
// 128 KiB of them to the network's thread.
TEST_F(TimeoutParamTest, IsNothingToHealth) {
  for (const char* const path : {"/healthz", "/readyz", "/livez"}) {
    EXPECT_EQ(Do("GET", std::string(path) + "?timeout=invalid").status, 200) << path;
  }
}

TEST_F(TimeoutParamTest, IsNothingToAWatch) {
  const http::Response watch = Do("GET", "/api/v1/namespaces?watch=1&timeout=invalid");
  ASSERT_EQ(watch.status, 200);
  watch.stream->Closed();
}

TEST_F(TimeoutParamTest, AWatchWhoseTimeIsOverEndsAtOnce) {
  const http::Response watch = Do("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=-1");
  ASSERT_EQ(watch.status, 200);
  watch.stream->Start([] {});
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(watch.stream->Take(chunks));
  watch.stream->Closed();
}

TEST_F(TimeoutParamTest, AWatchMayLastVeryLong) {
  const http::Response watch =
      Do("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=9223372036854775807");
  ASSERT_EQ(watch.status, 200);
  watch.stream->Start([] {});
  Tick();
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_TRUE(watch.stream->Take(chunks));
  watch.stream->Closed();
}

TEST_F(TimeoutParamTest, SecondsAreANumber) {
  const http::Response refused = Do("GET", "/api/v1/namespaces?timeoutSeconds=soon");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(Message(refused), "strconv.ParseInt: parsing \"soon\": invalid syntax");
}

}  // namespace
}  // namespace kubexx::apiserver
