#include "stand_in_etcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kubexx/rest/url_client.h"

namespace kubexx::cmd {
namespace {

using ::testing::HasSubstr;

std::string UrlOf(const http::Server& server) {
  return "http://127.0.0.1:" + std::to_string(server.port());
}

TEST(StandInEtcdTest, IsHealthyAndKnownForWhatItIs) {
  const auto servers = ServeStandInEtcd({.client_urls = {"http://127.0.0.1:0"}});
  ASSERT_TRUE(servers) << servers.error().message;
  const std::string url = UrlOf(*servers->front());
  const auto client = rest::UrlClient::New({.url = url + "/health"});
  ASSERT_TRUE(client);
  const auto answer = (*client)->Get({}, 1000, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answer->body, HasSubstr(R"("health":"true")"));
  EXPECT_TRUE(IsStandInEtcd(url, {}));
  EXPECT_TRUE(IsStandInEtcd(url + "/", {}));
}

TEST(StandInEtcdTest, OthersAreNotTakenForIt) {
  http::Server etcd({.address = "127.0.0.1:0"});
  etcd.Handle("/version", [](const http::Request&) {
    return http::Response{.body = R"({"etcdserver":"3.6.0","etcdcluster":"3.6.0"})"};
  });
  ASSERT_TRUE(etcd.Start());
  EXPECT_FALSE(IsStandInEtcd(UrlOf(etcd), {}));
  const std::string gone = UrlOf(etcd);
  etcd.Stop();
  EXPECT_FALSE(IsStandInEtcd(gone, {}));
  EXPECT_FALSE(IsStandInEtcd("https://127.0.0.1:1", {}));
}

TEST(StandInEtcdTest, SpeaksNoTls) {
  const auto servers = ServeStandInEtcd({.client_urls = {"https://127.0.0.1:0"}});
  ASSERT_FALSE(servers);
  EXPECT_THAT(servers.error().message, HasSubstr("no http URL"));
}

}  // namespace
}  // namespace kubexx::cmd
