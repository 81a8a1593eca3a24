// Ports of nodes that Services have.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

/// Four ports of the nodes.
class ServicePortsTest : public testing::ApiFixture {
 protected:
  ServicePortsTest() : ApiFixture({.service_ranges = {.ports = {.first = 30000, .last = 30003}}}) {}

  http::Response Make(const std::string& name, const std::string& spec,
                      const std::string& query = {}) {
    return Do("POST", "/api/v1/namespaces/default/services" + query,
              R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + "}}");
  }
  http::Response Patch(const std::string& name, const std::string& spec) {
    return Do("PATCH", "/api/v1/namespaces/default/services/" + name, R"({"spec":{)" + spec + "}}",
              kMergePatch);
  }
  std::string Port(const http::Response& response, std::string_view index = "0") {
    EXPECT_LT(response.status, 300) << response.body;
    return At(Json(response), {"spec", "ports", index, "nodePort"});
  }
  static std::string NodePort(const std::string& ports) {
    return R"("type":"NodePort","ports":[)" + ports + "]";
  }
  void Fill() {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(Make("f" + std::to_string(i), NodePort(R"({"port":80})")).status, 201);
    }
  }
  bool IsTaken(const std::string& port) {
    return Make("probe", NodePort(R"({"port":80,"nodePort":)" + port + "}"), "?dryRun=All")
               .status == 422;
  }
};

TEST_F(ServicePortsTest, EveryPortGetsOneUntilThereIsNone) {
  const http::Response made =
      Make("a", NodePort(R"({"name":"a","port":80},{"name":"b","port":81})"));
  EXPECT_THAT(Port(made), HasSubstr("3000"));
  EXPECT_THAT(Port(made, "1"), HasSubstr("3000"));
  EXPECT_NE(Port(made), Port(made, "1"));
  EXPECT_EQ(Port(Make("none", R"("ports":[{"port":80}])")), "");
  EXPECT_NE(Port(Make("b", R"("type":"LoadBalancer","ports":[{"port":80}])")), "");
  EXPECT_NE(Port(Make("c", NodePort(R"({"port":80})"))), "");
  const http::Response full = Make("d", NodePort(R"({"port":80})"));
  EXPECT_EQ(full.status, 500);
  EXPECT_EQ(Message(full), "Internal error occurred: failed to allocate a nodePort: range is full");
  EXPECT_EQ(Do("DELETE", "/api/v1/namespaces/default/services/c").status, 200);
  EXPECT_EQ(Make("d", NodePort(R"({"port":80})")).status, 201);
}

TEST_F(ServicePortsTest, WhatIsRefusedGivesItsPortsAndItsAddressBack) {
  EXPECT_EQ(Port(Make("a", NodePort(R"({"port":80,"nodePort":30002})"))), "30002");
  const http::Response refused = Make("b", NodePort(R"({"name":"a","port":80,"nodePort":30001},)"
                                                    R"({"name":"b","port":81,"nodePort":30002})") +
                                               R"(,"clusterIP":"10.0.0.9")");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(Message(refused),
            "Service \"b\" is invalid: spec.ports[1].nodePort: Invalid value: 30002: provided port "
            "is already allocated");
  EXPECT_EQ(
      Make("b", NodePort(R"({"port":80,"nodePort":30001})") + R"(,"clusterIP":"10.0.0.9")").status,
      201);
  EXPECT_THAT(Message(Make("c", NodePort(R"({"port":80,"nodePort":80})"))),
              HasSubstr("spec.ports[0].nodePort: Invalid value: 80: provided port is not in the "
                        "valid range. The range of valid ports is 30000-30003"));
}

TEST_F(ServicePortsTest, ProtocolsOfOnePortShareIt) {
  const http::Response made =
      Make("a", NodePort(R"({"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"})"));
  EXPECT_EQ(Port(made), Port(made, "1"));
  const http::Response named = Make(
      "b",
      NodePort(
          R"({"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP","nodePort":30003})"));
  if (named.status == 201) {  // Unless the first one has it.
    EXPECT_EQ(Port(named), "30003");
    EXPECT_EQ(Port(named, "1"), "30003");
  }
}

TEST_F(ServicePortsTest, AnUpdateKeepsThemByTheNamesOfThePorts) {
  const http::Response made =
      Make("a", NodePort(R"({"name":"a","port":80},{"name":"b","port":81})"));
  const http::Response put =
      Do("PUT", "/api/v1/namespaces/default/services/a",
         R"({"metadata":{"name":"a"},"spec":{)" +
             NodePort(R"({"name":"b","port":82},{"name":"c","port":83})") + "}}");
  EXPECT_EQ(Port(put), Port(made, "1"));
  EXPECT_NE(Port(put, "1"), "");
  EXPECT_FALSE(IsTaken(Port(made)) && Port(made) != Port(put, "1"));
  EXPECT_TRUE(IsTaken(Port(made, "1")));
  EXPECT_EQ(Port(Patch("a", R"("ports":[{"name":"b","port":80,"nodePort":30000}])")), "30000");
}

TEST_F(ServicePortsTest, TheyComeAndGoWithTheType) {
  const std::string port = Port(Make("a", NodePort(R"({"port":80})")));
  EXPECT_TRUE(IsTaken(port));
  const http::Response inside = Patch("a", R"("type":"ClusterIP")");
  EXPECT_EQ(Port(inside), "");
  EXPECT_EQ(At(Json(inside), {"spec", "externalTrafficPolicy"}), "");
  EXPECT_FALSE(IsTaken(port));
  EXPECT_NE(Port(Patch("a", R"("type":"NodePort")")), "");
  EXPECT_THAT(Message(Patch("a", R"("type":"ClusterIP","ports":[{"port":80,"nodePort":30009}])")),
              HasSubstr("spec.ports[0].nodePort: Forbidden: may not be used when `type` is"));
}

TEST_F(ServicePortsTest, ABalancerMayDoWithoutThem) {
  const std::string balancer = R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)";
  EXPECT_EQ(Port(Make("a", balancer + R"("ports":[{"port":80}])")), "");
  EXPECT_EQ(Port(Make("b", balancer + R"("ports":[{"port":80,"nodePort":30001}])")), "30001");
  EXPECT_TRUE(IsTaken("30001"));
  EXPECT_THAT(Message(Make("c", R"("allocateLoadBalancerNodePorts":false,"ports":[{"port":80}])")),
              HasSubstr("spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when"));
}

TEST_F(ServicePortsTest, ABalancerOfLocalTrafficHasOneForHealth) {
  const std::string local = R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)"
                            R"("externalTrafficPolicy":"Local","ports":[{"port":80}])";
  const http::Response made = Make("a", local + R"(,"healthCheckNodePort":30001)");
  EXPECT_EQ(At(Json(made), {"spec", "healthCheckNodePort"}), "30001") << made.body;
  const http::Response taken = Make("b", local + R"(,"healthCheckNodePort":30001)");
  EXPECT_EQ(taken.status, 500);
  EXPECT_EQ(Message(taken),
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 30001: "
            "provided port is already allocated");
  EXPECT_THAT(At(Json(Make("b", local)), {"spec", "healthCheckNodePort"}), HasSubstr("3000"));
  EXPECT_THAT(Message(Patch("a", R"("healthCheckNodePort":30002)")),
              HasSubstr("spec.healthCheckNodePort: Forbidden: field is immutable"));
  EXPECT_EQ(At(Json(Patch("a", R"("healthCheckNodePort":null)")), {"spec", "healthCheckNodePort"}),
            "30001");
  const http::Response everywhere = Patch("a", R"("externalTrafficPolicy":"Cluster")");
  EXPECT_EQ(At(Json(everywhere), {"spec", "healthCheckNodePort"}), "") << everywhere.body;
  EXPECT_FALSE(IsTaken("30001"));
}

TEST_F(ServicePortsTest, ADryRunTakesNone) {
  EXPECT_EQ(Port(Make("a", NodePort(R"({"port":80})"), "?dryRun=All")), "32769");
  Fill();
  EXPECT_EQ(Make("b", NodePort(R"({"port":80,"nodePort":30000})"), "?dryRun=All").status, 422);
}

TEST_F(ServicePortsTest, TheSameTwiceInAnUpdateIsAnError) {
  ASSERT_EQ(Make("a", NodePort(R"({"name":"a","port":80,"nodePort":30001})")).status, 201);
  const http::Response twice = Patch("a", R"("ports":[{"name":"a","port":80,"nodePort":30001},)"
                                          R"({"name":"b","port":81,"nodePort":30001}])");
  EXPECT_EQ(twice.status, 500);
  EXPECT_EQ(Message(twice), "duplicate nodePort: {TCP 30001}");
}

}  // namespace
}  // namespace kubexx::apiserver
