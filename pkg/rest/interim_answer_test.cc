#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <string>

#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/usual_server.h"

// A gateway may send 102 or 103 before the final response. cpprestsdk takes that for the final one.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::UsualCaIf;
using testing::UsualTlsIf;

struct InterimCase {
  std::string name;
  bool tls;
};

class InterimAnswerTest : public ::testing::TestWithParam<InterimCase> {};

TEST_P(InterimAnswerTest, IsNotFollowedByAnAnswerToAnotherRequest) {
  std::atomic<int> connections = 0;
  FakeServer server(
      [&connections](FakeConnection& connection) {
        const bool first = ++connections == 1;
        while (const auto request = connection.ReadRequest()) {
          if (first && request->target == "/first") {
            connection.Write("HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\n");
          } else {
            // The first connection sends the response for which the first request waits.
            connection.Respond(200, "text/plain", first ? "first" : "second");
          }
        }
      },
      UsualTlsIf(GetParam().tls));
  Config config{.host = server.Url()};
  config.tls.ca_data = UsualCaIf(GetParam().tls);
  const auto client = ClientFor(config);
  const auto first = client->Put().AbsPath("/first").Body(codec::Encoding::kJson, "{}").Do();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().reason, Reason::kUnavailable);
  EXPECT_THAT(first.error().message, ::testing::HasSubstr("103"));
  for (int i = 0; i < 20; ++i) {  // A connection may not be free again at once.
    const auto second = client->Put().AbsPath("/second").Body(codec::Encoding::kJson, "{}").Do();
    ASSERT_TRUE(second) << second.error().ToString();
    EXPECT_EQ(second->body, "second");
  }
}

INSTANTIATE_TEST_SUITE_P(Interim, InterimAnswerTest,
                         ::testing::Values(InterimCase{"Plain", false}, InterimCase{"Tls", true}),
                         [](const auto& interim) { return interim.param.name; });

}  // namespace
}  // namespace kubexx::rest
