#include "kubexx/apiserver/endpoints/upkeep/kubernetes_service.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kService = "/api/v1/namespaces/default/services/kubernetes";
constexpr const char* kEndpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
constexpr const char* kSlice =
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

class KubernetesServiceTest : public testing::ApiFixture {
 protected:
  KubernetesServiceTest()
      : ApiFixture({.service_ranges = {.addresses = *ParseAddressRanges("10.1.2.0/24")}}) {}
};

TEST_F(KubernetesServiceTest, LeadsToTheServer) {
  ASSERT_TRUE(api_.Publish({.address = "192.0.2.7", .port = 20443}, {}));
  const codec::JsonTree service = Json(Do("GET", kService));
  EXPECT_EQ(At(service, {"spec", "clusterIP"}), "10.1.2.1");
  EXPECT_EQ(At(service, {"spec", "clusterIPs"}), R"(["10.1.2.1"])");
  EXPECT_EQ(At(service, {"spec", "ports"}),
            R"([{"name":"https","protocol":"TCP","port":443,"targetPort":20443}])");
  EXPECT_EQ(At(service, {"metadata", "labels"}),
            R"({"component":"apiserver","provider":"kubernetes"})");
  EXPECT_EQ(
      At(Json(Do("GET", kEndpoints)), {"subsets"}),
      R"([{"addresses":[{"ip":"192.0.2.7"}],"ports":[{"name":"https","port":20443,"protocol":"TCP"}]}])");
  const codec::JsonTree slice = Json(Do("GET", kSlice));
  EXPECT_EQ(At(slice, {"addressType"}), "IPv4");
  EXPECT_EQ(At(slice, {"endpoints"}),
            R"([{"addresses":["192.0.2.7"],"conditions":{"ready":true}}])");
}

TEST_F(KubernetesServiceTest, FollowsTheServerToAnotherAddress) {
  ASSERT_TRUE(api_.Publish({.address = "192.0.2.7", .port = 1}, {}));
  const std::string uid = At(Json(Do("GET", kService)), {"metadata", "uid"});
  ASSERT_TRUE(api_.Publish({.address = "2001:db8::1", .port = 2}, {}));
  EXPECT_EQ(At(Json(Do("GET", kService)), {"metadata", "uid"}), uid);
  EXPECT_THAT(Do("GET", kEndpoints).body, HasSubstr(R"("ip":"2001:db8::1")"));
  EXPECT_EQ(At(Json(Do("GET", kSlice)), {"addressType"}), "IPv6");
}

TEST_F(KubernetesServiceTest, IsLeftOutWhereAnotherHasItsAddress) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"other"},"spec":{"clusterIP":"10.1.2.1","ports":[{"port":1}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_TRUE(api_.Publish({.address = "192.0.2.7", .port = 1}, {}));
  EXPECT_EQ(Do("GET", kService).status, 404);
  EXPECT_EQ(Do("GET", kEndpoints).status, 200);
}

TEST(ReachableAddressTest, IsNotTheLoopbacksIfThereIsAnother) {
  EXPECT_EQ(ReachableAddress("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(ReachableAddress("[2001:db8::1]"), "2001:db8::1");
  for (const char* const host : {"127.0.0.1", "0.0.0.0", "[::]", "[::1]", "localhost", ""}) {
    const std::string address = ReachableAddress(host);
    EXPECT_THAT(address, AnyOf("127.0.0.1", Not(StartsWith("127.")))) << host;
    EXPECT_NE(address, "") << host;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
