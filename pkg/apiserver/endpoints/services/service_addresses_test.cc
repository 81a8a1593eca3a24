#include "kubexx/apiserver/endpoints/services/service_addresses.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kServicesOfDefault = "/api/v1/namespaces/default/services";

ApiOptions WithRanges(const char* cidrs, const char* ports = "30000-32767") {
  return {
      .service_ranges = {.addresses = *ParseAddressRanges(cidrs), .ports = *ParsePortRange(ports)}};
}

std::string ServiceBody(const std::string& name, const std::string& spec) {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + (spec.empty() ? "" : ",") +
         R"("ports":[{"port":80}]}})";
}

/// Seven addresses, of which default/kubernetes has none here.
class ServiceAddressesTest : public testing::ApiFixture {
 protected:
  explicit ServiceAddressesTest(const char* cidrs = "10.1.2.0/28")
      : ApiFixture(WithRanges(cidrs)) {}

  http::Response Make(const std::string& name, const std::string& spec = {},
                      const std::string& query = {}) {
    return Do("POST", kServicesOfDefault + query, ServiceBody(name, spec));
  }
  http::Response Patch(const std::string& name, const std::string& spec) {
    return Do("PATCH", kServicesOfDefault + "/" + name, R"({"spec":{)" + spec + "}}", kMergePatch);
  }
  std::string Spec(const http::Response& response, std::string_view member) {
    EXPECT_LT(response.status, 300) << response.body;
    return At(Json(response), {"spec", member});
  }
  std::string AddressOf(const std::string& name, const std::string& spec = {}) {
    return Spec(Make(name, spec), "clusterIP");
  }
  /// How many more Services get an address; they have one then.
  int Left() {
    for (int i = 0;; ++i) {
      if (const http::Response made = Make("more" + std::to_string(i)); made.status != 201) {
        EXPECT_EQ(Message(made),
                  "Internal error occurred: failed to allocate a serviceIP for Service \"more" +
                      std::to_string(i) + "\": range is full");
        EXPECT_EQ(made.status, 500);
        return i;
      }
    }
  }
};

TEST_F(ServiceAddressesTest, EveryTypeThatHasOneGetsAnAddressOfTheRange) {
  for (const char* const type : {"ClusterIP", "NodePort", "LoadBalancer"}) {
    const codec::JsonTree made = Json(Make(type == std::string("ClusterIP")  ? "a"
                                           : type == std::string("NodePort") ? "b"
                                                                             : "c",
                                           R"("type":")" + std::string(type) + "\""));
    const std::string address = At(made, {"spec", "clusterIP"});
    EXPECT_THAT(address, StartsWith("10.1.2.")) << made.ToJson();
    EXPECT_EQ(At(made, {"spec", "clusterIPs"}), "[\"" + address + "\"]");
    EXPECT_EQ(At(made, {"spec", "ipFamilies"}), R"(["IPv4"])");
    EXPECT_EQ(At(made, {"spec", "ipFamilyPolicy"}), "SingleStack");
    EXPECT_EQ(At(made, {"spec", "internalTrafficPolicy"}), "Cluster");
  }
}

TEST_F(ServiceAddressesTest, HeadlessServicesAndNamesOfOthersHaveNone) {
  EXPECT_EQ(AddressOf("a", R"("clusterIP":"None")"), "None");
  const codec::JsonTree open = Json(Do("GET", kServicesOfDefault + "/a"));
  EXPECT_EQ(At(open, {"spec", "ipFamilies"}), R"(["IPv4","IPv6"])");
  EXPECT_EQ(At(open, {"spec", "ipFamilyPolicy"}), "RequireDualStack");
  const codec::JsonTree selecting = Json(Make("b", R"("clusterIP":"None","selector":{"a":"b"})"));
  EXPECT_EQ(At(selecting, {"spec", "clusterIPs"}), R"(["None"])");
  EXPECT_EQ(At(selecting, {"spec", "ipFamilies"}), R"(["IPv4"])");
  EXPECT_EQ(At(selecting, {"spec", "ipFamilyPolicy"}), "SingleStack");
  const codec::JsonTree name =
      Json(Make("c", R"("type":"ExternalName","externalName":"example.com")"));
  EXPECT_EQ(At(name, {"spec", "clusterIP"}), "");
  EXPECT_EQ(At(name, {"spec", "ipFamilies"}), "");
  EXPECT_EQ(Left(), 14);
}

TEST_F(ServiceAddressesTest, AnAddressThatIsNamedIsTakenOnce) {
  EXPECT_EQ(AddressOf("a", R"("clusterIP":"10.1.2.7")"), "10.1.2.7");
  const http::Response taken = Make("b", R"("clusterIP":"10.1.2.7")");
  EXPECT_EQ(taken.status, 422);
  EXPECT_EQ(Message(taken),
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.1.2.7\"]: failed to "
            "allocate IP 10.1.2.7: provided IP is already allocated");
  for (const char* const foreign : {"10.9.9.9", "10.1.2.0", "10.1.2.15"}) {
    EXPECT_THAT(Message(Make("b", R"("clusterIP":")" + std::string(foreign) + "\"")),
                HasSubstr("the provided network does not match the current range"));
  }
  EXPECT_THAT(Message(Make("b", R"("clusterIP":"bla")")),
              HasSubstr("spec.clusterIPs[0]: Invalid value: \"bla\": must be a valid IP address"));
  EXPECT_THAT(
      Message(Make("b", R"("clusterIP":"fd00::1")")),
      HasSubstr("spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured"));
  EXPECT_EQ(Left(), 13);
}

TEST_F(ServiceAddressesTest, AnAddressIsFreeWhenItsServiceHasGone) {
  AddressOf("a", R"("clusterIP":"10.1.2.7")");
  EXPECT_EQ(Left(), 13);
  EXPECT_EQ(Do("DELETE", kServicesOfDefault + "/a?dryRun=All").status, 200);
  EXPECT_EQ(Make("b").status, 500);
  EXPECT_EQ(Do("DELETE", kServicesOfDefault + "/a").status, 200);
  EXPECT_EQ(AddressOf("b"), "10.1.2.7");
}

TEST_F(ServiceAddressesTest, AServiceThatWaitsForFinalizersKeepsItsAddress) {
  ASSERT_EQ(Do("POST", kServicesOfDefault,
               R"({"metadata":{"name":"a","finalizers":["x/y"]},"spec":{"clusterIP":"10.1.2.7",)"
               R"("ports":[{"port":1}]}})")
                .status,
            201);
  ASSERT_EQ(Do("DELETE", kServicesOfDefault + "/a").status, 200);
  EXPECT_EQ(Make("b", R"("clusterIP":"10.1.2.7")").status, 422);
  ASSERT_EQ(
      Do("PATCH", kServicesOfDefault + "/a", R"({"metadata":{"finalizers":null}})", kMergePatch)
          .status,
      200);
  EXPECT_EQ(AddressOf("b", R"("clusterIP":"10.1.2.7")"), "10.1.2.7");
}

TEST_F(ServiceAddressesTest, ADryRunTakesNothing) {
  EXPECT_EQ(Spec(Make("a", "", "?dryRun=All"), "clusterIP"), "10.1.2.0");
  EXPECT_EQ(Spec(Make("a", R"("clusterIP":"10.1.2.7")", "?dryRun=All"), "clusterIP"), "10.1.2.7");
  EXPECT_EQ(Make("a", R"("clusterIP":"10.9.9.9")", "?dryRun=All").status, 422);
  EXPECT_EQ(Left(), 14);
}

TEST_F(ServiceAddressesTest, WhatIsRefusedTakesNothing) {
  AddressOf("a");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Make("a").status, 409);
    EXPECT_EQ(Make("b", R"("sessionAffinity":"x")").status, 422);
    EXPECT_EQ(Make("b", R"("clusterIP":"10.1.2.7","clusterIPs":["10.1.2.8"])").status, 422);
    EXPECT_EQ(Do("POST", "/api/v1/namespaces/nowhere/services", ServiceBody("b", "")).status, 404);
  }
  EXPECT_EQ(Left(), 13);
}

TEST_F(ServiceAddressesTest, TheFirstAddressesAreForWhoNamesThem) {
  ApiOptions options = WithRanges("10.1.2.0/26");  // From 10.1.2.17 on.
  Api api(*storage_, Patient(std::move(options)));
  ASSERT_TRUE(api.Bootstrap({}));
  for (int i = 0; i < 46; ++i) {
    const http::Response made =
        testing::Ask(api, "POST", kServicesOfDefault, ServiceBody("s" + std::to_string(i), ""));
    const std::string address = At(Json(made), {"spec", "clusterIP"});
    EXPECT_GT(std::stoi(address.substr(address.rfind('.') + 1)), 16) << address;
  }
  EXPECT_EQ(testing::Ask(api, "POST", kServicesOfDefault, ServiceBody("last", "")).status, 201);
}

TEST_F(ServiceAddressesTest, AnUpdateKeepsWhatItLeavesOut) {
  const std::string address = AddressOf("a");
  const http::Response put = Do("PUT", kServicesOfDefault + "/a",
                                R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":81}]}})");
  EXPECT_EQ(Spec(put, "clusterIP"), address);
  EXPECT_EQ(Spec(put, "ipFamilies"), R"(["IPv4"])");
  EXPECT_EQ(Spec(Patch("a", R"("clusterIP":null,"clusterIPs":null)"), "clusterIP"), address);
  const std::string other = address == "10.1.2.9" ? "10.1.2.8" : "10.1.2.9";
  EXPECT_THAT(
      Message(Patch("a", "\"clusterIP\":\"" + other + "\"")),
      HasSubstr("spec.clusterIPs[0]: Invalid value: [\"" + other + "\"]: may not change once"));
  EXPECT_THAT(Message(Patch("a", R"("clusterIP":"None")")), HasSubstr("may not change once set"));
}

TEST_F(ServiceAddressesTest, TheAddressComesAndGoesWithTheType) {
  AddressOf("a", R"("clusterIP":"10.1.2.7")");
  const http::Response name = Patch("a", R"("type":"ExternalName","externalName":"a.b")");
  EXPECT_EQ(Spec(name, "clusterIP"), "");
  EXPECT_EQ(Spec(name, "clusterIPs"), "");
  EXPECT_EQ(Spec(name, "ipFamilies"), "");
  EXPECT_EQ(Spec(name, "ipFamilyPolicy"), "");
  EXPECT_EQ(Spec(name, "internalTrafficPolicy"), "");
  EXPECT_EQ(AddressOf("b", R"("clusterIP":"10.1.2.7")"), "10.1.2.7");
  const http::Response back = Patch("a", R"("type":"ClusterIP","externalName":null)");
  EXPECT_THAT(Spec(back, "clusterIP"), StartsWith("10.1.2."));
  EXPECT_NE(Spec(back, "clusterIP"), "10.1.2.7");
  EXPECT_EQ(Spec(back, "ipFamilies"), R"(["IPv4"])");
  EXPECT_EQ(Left(), 12);
}

TEST_F(ServiceAddressesTest, AfterARestartTheTakenOnesAreKnown) {
  AddressOf("a", R"("clusterIP":"10.1.2.7")");
  EXPECT_EQ(Left(), 13);
  Api api(*storage_, Patient(WithRanges("10.1.2.0/28")));
  ASSERT_TRUE(api.Bootstrap({}));
  EXPECT_EQ(testing::Ask(api, "POST", kServicesOfDefault, ServiceBody("b", "")).status, 500);
  EXPECT_EQ(testing::Ask(api, "DELETE", kServicesOfDefault + "/a").status, 200);
  EXPECT_EQ(testing::Ask(api, "POST", kServicesOfDefault, ServiceBody("b", "")).status, 201);
}

/// As servers made them that gave out no addresses.
TEST_F(ServiceAddressesTest, AServiceWithoutAnAddressGetsOneWhenItIsWritten) {
  ASSERT_TRUE(storage_->Create(
      "/registry/services/specs/default/old",
      R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"old","namespace":"default",)"
      R"("uid":"u"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local",)"
      R"("ports":[{"port":80,"protocol":"TCP"}]},"status":{"loadBalancer":{}}})",
      {}));
  const http::Response changed = Patch("old", R"("selector":{"a":"b"})");
  EXPECT_THAT(Spec(changed, "clusterIP"), StartsWith("10.1.2."));
  EXPECT_EQ(Spec(changed, "ipFamilies"), R"(["IPv4"])");
  EXPECT_THAT(Spec(changed, "ports"), HasSubstr("\"nodePort\":3"));
  EXPECT_THAT(Spec(changed, "healthCheckNodePort"), StartsWith("3"));
}

TEST_F(ServiceAddressesTest, ManyAtOnceGetDifferentOnes) {
  Api api(*storage_, Patient(WithRanges("10.2.0.0/24")));
  ASSERT_TRUE(api.Bootstrap({}));
  std::vector<std::vector<std::string>> found(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&api, &mine = found[i], i] {
        for (int n = 0; n < 60; ++n) {
          const std::string name = "s" + std::to_string(i) + "-" + std::to_string(n);
          mine.push_back(
              At(Json(testing::Ask(api, "POST", kServicesOfDefault, ServiceBody(name, ""))),
                 {"spec", "clusterIP"}));
        }
      });
    }
  }
  std::set<std::string> all;
  for (const std::vector<std::string>& some : found) {
    all.insert(some.begin(), some.end());
  }
  EXPECT_EQ(all.size(), 240U);
}

class DualStackTest : public ServiceAddressesTest {
 protected:
  DualStackTest() : ServiceAddressesTest("10.1.2.0/28,fd00::/120") {}
};

TEST_F(DualStackTest, TwoFamiliesAreForWhoWantsThem) {
  EXPECT_EQ(Spec(Make("one"), "ipFamilies"), R"(["IPv4"])");
  const codec::JsonTree both = Json(Make("both", R"("ipFamilyPolicy":"PreferDualStack")"));
  EXPECT_THAT(At(both, {"spec", "clusterIPs", "0"}), StartsWith("10.1.2."));
  EXPECT_THAT(At(both, {"spec", "clusterIPs", "1"}), StartsWith("fd00::"));
  EXPECT_EQ(At(both, {"spec", "ipFamilies"}), R"(["IPv4","IPv6"])");
  const codec::JsonTree six = Json(Make("six", R"("ipFamilies":["IPv6"])"));
  EXPECT_THAT(At(six, {"spec", "clusterIP"}), StartsWith("fd00::"));
  EXPECT_THAT(Message(Make("bad", R"("ipFamilies":["IPv4","IPv6"])")),
              HasSubstr("spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be "));
}

TEST_F(DualStackTest, TheSecondFamilyComesAndGoes) {
  const std::string address = AddressOf("a");
  const http::Response up = Patch("a", R"("ipFamilyPolicy":"RequireDualStack")");
  EXPECT_EQ(Spec(up, "clusterIP"), address);
  EXPECT_EQ(Spec(up, "ipFamilies"), R"(["IPv4","IPv6"])");
  const std::string second = At(Json(up), {"spec", "clusterIPs", "1"});
  EXPECT_EQ(Make("b", R"("clusterIP":")" + second + "\"").status, 422);
  EXPECT_EQ(Patch("a", R"("clusterIPs":[")" + address + "\"]").status, 422);
  const http::Response down = Patch("a", R"("ipFamilyPolicy":"SingleStack")");
  EXPECT_EQ(Spec(down, "clusterIPs"), "[\"" + address + "\"]");
  EXPECT_EQ(Spec(down, "ipFamilies"), R"(["IPv4"])");
  EXPECT_EQ(Make("b", R"("clusterIP":")" + second + "\"").status, 201);
}

TEST_F(ServiceAddressesTest, WithOneFamilyNobodyGetsTwo) {
  EXPECT_EQ(Spec(Make("a", R"("ipFamilyPolicy":"PreferDualStack")"), "ipFamilies"), R"(["IPv4"])");
  EXPECT_THAT(Message(Make("b", R"("ipFamilyPolicy":"RequireDualStack")")),
              HasSubstr("this cluster is not configured for dual-stack services"));
  EXPECT_THAT(Message(Make("b", R"("ipFamilies":["IPv6"])")),
              HasSubstr("spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured"));
  EXPECT_THAT(Message(Make("b", R"("ipFamilies":["x"])")),
              HasSubstr("spec.ipFamilies[0]: Unsupported value: \"x\""));
  EXPECT_THAT(Message(Make("b", R"("ipFamilyPolicy":"x")")),
              HasSubstr("spec.ipFamilyPolicy: Unsupported value: \"x\""));
}

TEST_F(ServiceAddressesTest, ServersOfOneStoreSeeEachOthersServices) {
  ApiOptions options = WithRanges("10.1.2.0/28");
  options.shared_storage = true;
  Api one(*storage_, Patient(options));
  Api two(*storage_, Patient(options));
  const auto make = [](Api& api, const std::string& name, const std::string& address) {
    return testing::Ask(api, "POST", kServicesOfDefault,
                        ServiceBody(name, R"("clusterIP":")" + address + "\""))
        .status;
  };
  EXPECT_EQ(make(one, "a", "10.1.2.3"), 201);
  EXPECT_EQ(make(two, "b", "10.1.2.3"), 422);
  EXPECT_EQ(make(two, "b", "10.1.2.4"), 201);
  EXPECT_EQ(testing::Ask(two, "DELETE", kServicesOfDefault + "/a").status, 200);
  EXPECT_EQ(make(one, "c", "10.1.2.3"), 201);
  EXPECT_EQ(make(one, "d", "10.1.2.4"), 422);
}

/// Stores what it is given, and says that it does not know.
class ForgetfulStorage : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    auto made = ForwardingStorage::Create(key, std::move(value), std::move(stop));
    return forgets ? apimachinery::Fail(apimachinery::Reason::kTimeout, "no answer")
                   : std::move(made);
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    lists += prefix.starts_with("/registry/services/specs/") ? 1 : 0;
    return ForwardingStorage::GetList(prefix, options, sink, std::move(stop));
  }

  bool forgets = false;
  int lists = 0;
};

TEST_F(ServiceAddressesTest, ServicesAreReadOnceAndWhenNobodyKnowsWhatHasBecomeOfAWrite) {
  ForgetfulStorage forgetful(*storage_);
  Api api(forgetful, Patient(WithRanges("10.1.2.0/28")));
  ASSERT_TRUE(api.Bootstrap({}));
  EXPECT_EQ(forgetful.lists, 0);
  const auto make = [&api](const std::string& name) {
    return testing::Ask(api, "POST", kServicesOfDefault,
                        ServiceBody(name, R"("clusterIP":"10.1.2.)" + name.substr(1) + "\""))
        .status;
  };
  EXPECT_EQ(make("a1"), 201);
  EXPECT_EQ(make("a2"), 201);
  EXPECT_EQ(forgetful.lists, 1);
  forgetful.forgets = true;
  EXPECT_GE(make("a3"), 500);
  forgetful.forgets = false;
  EXPECT_EQ(make("b3"), 422);  // It was stored.
  EXPECT_EQ(forgetful.lists, 2);
  EXPECT_EQ(make("b4"), 201);
  EXPECT_EQ(forgetful.lists, 2);
}

}  // namespace
}  // namespace kubexx::apiserver
