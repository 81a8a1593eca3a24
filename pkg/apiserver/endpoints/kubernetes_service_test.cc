#include "kubexx/apiserver/endpoints/kubernetes_service.h"

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

class KubernetesServiceTest : public testing::ApiFixture {};

TEST_F(KubernetesServiceTest, LeadsToTheServer) {
  ASSERT_TRUE(
      api_.Publish({.address = "192.0.2.7", .port = 20443, .cluster_ip_range = "10.1.2.0/24"}, {}));
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

TEST_F(KubernetesServiceTest, ABadRangeIsRefused) {
  const auto published = api_.Publish({.address = "192.0.2.7", .cluster_ip_range = "ten"}, {});
  ASSERT_FALSE(published);
  EXPECT_THAT(published.error().message, HasSubstr("\"ten\" is no range"));
}

TEST(FirstServiceAddressTest, IsOneMoreThanTheNetworks) {
  EXPECT_EQ(*FirstServiceAddress("10.0.0.0/24"), "10.0.0.1");
  EXPECT_EQ(*FirstServiceAddress("10.0.0.255/16,fd00::/108"), "10.0.0.1");
  EXPECT_EQ(*FirstServiceAddress("10.1.2.255/29"), "10.1.2.249");
  EXPECT_EQ(*FirstServiceAddress("172.31.255.255/11"), "172.0.0.1");
  EXPECT_EQ(*FirstServiceAddress("fd00::7/108"), "fd00::1");
  EXPECT_EQ(*FirstServiceAddress("fd00::/120,10.0.0.0/0"), "fd00::1");
}

TEST(FirstServiceAddressTest, IsRefusedWhereKubeApiserverDoes) {
  for (const char* const bad :
       {"10.0.0.0", "", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/40", "10.0.0.0/-1", "10.0.0.0/8x",
        "10.0.0.0/30", "fd00::/126", "fd00::/129", "bla/8", "10.0.0.0/24,",
        "10.0.0.0/24,fd00::", "10.0.0.0/24,10.1.0.0/24", "10.0.0.0/24,fd00::/108,10.1.0.0/24"}) {
    const auto first = FirstServiceAddress(bad);
    ASSERT_FALSE(first) << bad << " " << *first;
    EXPECT_EQ(first.error().reason, apimachinery::Reason::kInvalidConfig) << bad;
  }
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
