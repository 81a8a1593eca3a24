#include "kubexx/apiserver/endpoints/call/open_watches.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

ApiOptions TwoWatchesEach() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,1\njoe-token,joe,2\n");
  options.watches_per_user = 2;
  return options;
}

class OpenWatchesTest : public testing::ApiFixture {
 protected:
  OpenWatchesTest() : ApiFixture(TwoWatchesEach()) {}
  http::Response Watch(const std::string& user) {
    headers_ = {{"Authorization", "Bearer " + user + "-token"}};
    return Do("GET", std::string(testing::kPods) + "?watch=true&timeoutSeconds=31622400");
  }
};

TEST_F(OpenWatchesTest, NobodyHasThoseOfOthers) {
  const http::Response first = Watch("jane");
  http::Response second = Watch("jane");
  ASSERT_NE(second.stream, nullptr) << second.body;
  const http::Response third = Watch("jane");
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.stream, nullptr);
  EXPECT_THAT(Message(third), HasSubstr(R"(the user "jane" has 2 watches open)"));
  EXPECT_NE(Watch("joe").stream, nullptr);
  second.stream->Closed();
  second.stream = nullptr;
  Tick();
  EXPECT_NE(Watch("jane").stream, nullptr);
}

/// A client that comes again at once would be refused until the cache looks after its watches.
TEST_F(OpenWatchesTest, AWatchThatItsClientLeftDoesNotCount) {
  const http::Response first = Watch("jane");
  const http::Response second = Watch("jane");
  ASSERT_NE(second.stream, nullptr) << second.body;
  second.stream->Closed();
  EXPECT_NE(Watch("jane").stream, nullptr);
}

TEST_F(OpenWatchesTest, AdministratorsCanAlwaysWatch) {
  const http::Response first = Watch("admin");
  const http::Response second = Watch("admin");
  EXPECT_NE(Watch("admin").stream, nullptr);
}

}  // namespace
}  // namespace kubexx::apiserver
