#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

ApiOptions WithoutTime(base::Clock& clock) { return {.clock = clock, .cacher = {.clock = clock}}; }

struct StoppedClock {
  base::testing::FakeClock fake_clock_;
};

class ContinueTest : StoppedClock, public testing::ApiFixture {
 protected:
  ContinueTest() : ApiFixture(WithoutTime(fake_clock_)) {}
};

TEST_F(ContinueTest, AnExpiredTokenComesWithOneThatGoesOn) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* const name : {"a", "b", "c"}) {
    ASSERT_EQ(Do("POST", maps, R"({"metadata":{"name":")" + std::string(name) + "\"}}").status,
              201);
  }
  const codec::JsonTree page = Json(Do("GET", maps + "?limit=1"));
  ASSERT_EQ(Do("POST", maps, R"({"metadata":{"name":"d"}})").status, 201);
  ASSERT_TRUE(storage_->Compact(*storage_->CurrentRevision({}), {}));
  const http::Response expired =
      Do("GET", maps + "?limit=2&continue=" + At(page, {"metadata", "continue"}));
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(At(Json(expired), {"reason"}), "Expired");
  const std::string token = At(Json(expired), {"metadata", "continue"});
  const codec::JsonTree second = Json(Do("GET", maps + "?limit=2&continue=" + token));
  EXPECT_EQ(At(second, {"items", "0", "metadata", "name"}), "b");
  EXPECT_EQ(At(second, {"items", "1", "metadata", "name"}), "c");
  const codec::JsonTree third =
      Json(Do("GET", maps + "?limit=2&continue=" + At(second, {"metadata", "continue"})));
  EXPECT_EQ(At(third, {"items", "0", "metadata", "name"}), "d");
  EXPECT_EQ(At(third, {"metadata", "continue"}), "");
}

TEST_F(ContinueTest, AVersionOfTheFutureIsNotWaitedFor) {
  // The clock stands still: whoever waits, waits for ever.
  const http::Response refused =
      Do("GET", "/api/v1/namespaces/default/configmaps?resourceVersion=999999999");
  EXPECT_EQ(refused.status, 504);
  EXPECT_THAT(Message(refused), HasSubstr("Too large resource version: 999999999"));
}

}  // namespace
}  // namespace kubexx::apiserver
