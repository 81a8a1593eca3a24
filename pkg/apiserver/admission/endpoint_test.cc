#include "kubexx/apiserver/admission/endpoint.h"

#include <gmock/gmock.h>

#include <chrono>
#include <stop_token>
#include <string>

namespace kubexx::apiserver::admission {
namespace {

class OneAddress final : public ServiceResolver {
 public:
  apimachinery::Result<std::string> Resolve(const ServiceReference&,
                                            const std::stop_token&) override {
    return "10.0.0.1:8443";
  }
};

std::string UrlOf(const ClientConfig& client) {
  OneAddress services;
  const auto endpoint = EndpointOf(client, std::chrono::seconds(10), services, {});
  return endpoint ? endpoint->url : endpoint.error().ToString();
}

// envtest joins a base that ends with a slash to a path that begins with one.
TEST(EndpointTest, ThePathOfAUrlIsCleanedAsClientGoDoes) {
  EXPECT_EQ(UrlOf({.url = "https://127.0.0.1:43685//failing"}),
            "https://127.0.0.1:43685/failing?timeout=10s");
  EXPECT_EQ(UrlOf({.url = "https://a.example/b/./c/../d/"}), "https://a.example/b/d?timeout=10s");
  EXPECT_EQ(UrlOf({.url = "https://a.example"}), "https://a.example/?timeout=10s");
  EXPECT_EQ(UrlOf({.url = "https://[::1]:8443/a"}), "https://[::1]:8443/a?timeout=10s");
}

TEST(EndpointTest, AServiceHasItsAddressAndItsName) {
  ClientConfig client;
  client.service = {.namespace_ = "shop", .name = "hooks", .path = "//check"};
  EXPECT_EQ(UrlOf(client), "https://10.0.0.1:8443/check?timeout=10s");
}

}  // namespace
}  // namespace kubexx::apiserver::admission
