#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

class TimeoutParamTest : public testing::ApiFixture {};

TEST_F(TimeoutParamTest, MustBeADuration) {
  for (const char* const path : {"/version", "/api/v1/namespaces"}) {
    for (const char* const good : {"32s", "0s", "1h30m"}) {
      EXPECT_EQ(Do("GET", std::string(path) + "?timeout=" + good).status, 200) << path << good;
    }
    for (const char* const bad : {"invalid", "10", "1d"}) {
      const http::Response refused = Do("GET", std::string(path) + "?timeout=" + bad);
      EXPECT_EQ(refused.status, 400) << path << bad;
      EXPECT_THAT(Message(refused), HasSubstr("invalid timeout specified in the request URL"));
    }
  }
}

}  // namespace
}  // namespace kubexx::apiserver
