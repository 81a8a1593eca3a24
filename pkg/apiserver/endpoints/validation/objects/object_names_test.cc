// Which names objects of a type may have.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/certificate_requests.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

class ObjectNamesTest : public testing::ApiFixture {
 protected:
  int MakeRequest(const std::string& name) {
    JsonTree request = *JsonTree::Parse(
        R"({"spec":{"signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"]}})");
    request["metadata"]["name"] = name;
    request["spec"]["request"] = testing::kJanesRequest;
    return Do("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", request.ToJson())
        .status;
  }
  int MakeAddress(const std::string& name) {
    JsonTree address = *JsonTree::Parse(
        R"({"spec":{"parentRef":{"resource":"services","namespace":"default","name":"s"}}})");
    address["metadata"]["name"] = name;
    return Do("POST", "/apis/networking.k8s.io/v1/ipaddresses", address.ToJson()).status;
  }
};

TEST_F(ObjectNamesTest, CertificateSigningRequestsHaveAnyThatFitsInAPath) {
  for (const char* const name : {"node-csr-Ab_c", "user:Jane Doe", "with.dots"}) {
    EXPECT_EQ(MakeRequest(name), 201) << name;
  }
  for (const char* const name : {".", "..", "a/b", "a%b"}) {
    EXPECT_EQ(MakeRequest(name), 422) << name;
  }
}

TEST_F(ObjectNamesTest, ANameFitsIntoARequestAndIntoInformers) {
  EXPECT_EQ(MakeRequest(std::string(32768, 'n')), 201);
  EXPECT_EQ(MakeRequest(std::string(32769, 'n')), 422);
}

TEST_F(ObjectNamesTest, AddressesAreNamedByThemselves) {
  for (const char* const name : {"10.0.0.1", "0.0.0.0", "2001:db8::1", "::1", "::", "fd00::",
                                 "1:0:2:3:4:5:6:7", "::102:304", "2001:db8::1:0:0:1"}) {
    EXPECT_EQ(MakeAddress(name), 201) << name;
  }
  for (const char* const name :
       {"a", "10.0.0", "10.0.0.01", "10.0.0.256", "2001:DB8::1", "2001:db8:0:0:0:0:0:1", "::01",
        "2001:0db8::1", "1::2:3:4:5:6:7", "::1.2.3.4", "::ffff:1.2.3.4", "10.0.0.0/8",
        "fe80::1%eth0", "[::1]", ""}) {
    EXPECT_EQ(MakeAddress(name), 422) << name;
  }
}

TEST_F(ObjectNamesTest, ApiServicesAreNamedByWhatTheyServe) {
  EXPECT_EQ(
      Do("POST", "/apis/apiregistration.k8s.io/v1/apiservices",
         R"({"metadata":{"name":"v1."},"spec":{"version":"v1","groupPriorityMinimum":1,"versionPriority":1}})")
          .status,
      201);
}

TEST_F(ObjectNamesTest, MostAreSubdomains) {
  for (const char* const name : {"a", "a.b", "0"}) {
    EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/configmaps",
                 R"({"metadata":{"name":")" + std::string(name) + "\"}}")
                  .status,
              201)
        << name;
  }
  for (const char* const name : {"A", "a_b", "a:b", "-a"}) {
    EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/configmaps",
                 R"({"metadata":{"name":")" + std::string(name) + "\"}}")
                  .status,
              422)
        << name;
  }
}

// As kube-apiserver since RelaxedServiceNameValidation.
TEST_F(ObjectNamesTest, AServiceMayBeginWithADigit) {
  const std::string services = "/api/v1/namespaces/default/services";
  EXPECT_EQ(Do("POST", services, R"({"metadata":{"name":"1abc"}})").status, 422) << "without ports";
  const std::string spec = R"(,"spec":{"ports":[{"port":80}]}})";
  EXPECT_EQ(Do("POST", services, R"({"metadata":{"name":"1abc"})" + spec).status, 201);
  EXPECT_EQ(Do("POST", services, R"({"metadata":{"name":"-abc"})" + spec).status, 422);
}

}  // namespace
}  // namespace kubexx::apiserver
