// Objects that would do harm to others: what nobody can read again stops the lists, watches and
// deletions of its type, and what costs the square of its size holds the server up. Where the
// latter fails, the test does not end.
#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver {
namespace {

using base::testing::LargeInput;
using codec::JsonTree;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kHarmless = "/apis/e.x/v1/namespaces/default/harmfuls";
constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

/// What `element` gives for each number, with commas.
std::string Enumerated(int count, base::FunctionRef<std::string(int)> element) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list.append(i == 0 ? "" : ",").append(element(i));
  }
  return list;
}

class HarmfulObjectsTest : public testing::ApiFixture {
 protected:
  void Define() {
    const http::Response made =
        Do("POST", testing::kDefinitions, R"({"metadata":{"name":"harmfuls.e.x"},"spec":
      {"group":"e.x","scope":"Namespaced","names":{"plural":"harmfuls","singular":"harmful","kind":"Harmful"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "subresources":{"scale":{"specReplicasPath":".spec.r.n","statusReplicasPath":".status.n"}},
        "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response Make(const std::string& name, const std::string& spec) {
    return Do("POST", kHarmless,
              R"({"apiVersion":"e.x/v1","kind":"Harmful","metadata":{"name":")" + name +
                  R"("},"spec":)" + spec + "}");
  }
  /// The status of a list in protobuf, in which bad values of fields have no form.
  int ListsAsProtobuf(const std::string& target) {
    headers_ = {{"Accept", kProtobuf}};
    const int status = Do("GET", target).status;
    headers_.clear();
    return status;
  }
};

std::string Nested(int levels) {
  std::string json = "1";
  for (int i = 0; i < levels; ++i) {
    json = R"({"a":)" + json + "}";
  }
  return json;
}

TEST_F(HarmfulObjectsTest, WhatNestsSoDeepThatItCouldNotBeReadAgainIsRefused) {
  Define();
  for (int levels = 490; levels < 513; ++levels) {
    const std::string name = "n" + std::to_string(levels);
    const http::Response made = Make(name, Nested(levels));
    ASSERT_TRUE(made.status == 201 || made.status == 400) << levels << ": " << made.body;
    EXPECT_EQ(Do("GET", kHarmless).status, 200) << levels;
    if (made.status == 201) {
      EXPECT_EQ(Do("GET", kHarmless + ("/" + name)).status, 200) << levels;
      EXPECT_EQ(Do("DELETE", kHarmless + ("/" + name)).status, 200) << levels;
    }
  }
  EXPECT_EQ(Make("fine", Nested(450)).status, 201);
}

TEST_F(HarmfulObjectsTest, TimesOfManagersAreTimes) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/configmaps",
         R"({"metadata":{"name":"m","managedFields":[{"manager":"m","operation":"Update",)"
         R"("apiVersion":"v1","time":"x","fieldsType":"FieldsV1","fieldsV1":{"f:zz":{}}}]}})");
  EXPECT_TRUE(made.status == 201 || made.status == 400) << made.body;
  EXPECT_EQ(ListsAsProtobuf("/api/v1/configmaps"), 200);
  EXPECT_THAT(made.body, ::testing::Not(HasSubstr(R"("time":"x")")));
}

TEST_F(HarmfulObjectsTest, ACountThatDoesNotFitIsRefused) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(
      Do("POST", deployments,
         R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":)"
         R"({"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
          .status,
      201);
  EXPECT_EQ(
      Do("PATCH", deployments + "/d/scale", R"({"spec":{"replicas":1099511627776}})", kMergePatch)
          .status,
      400);
  EXPECT_EQ(ListsAsProtobuf("/apis/apps/v1/deployments"), 200);
}

TEST_F(HarmfulObjectsTest, AScaleReplacesNoListByAnObject) {
  Define();
  ASSERT_EQ(Make("s", R"({"r":[1,2,3]})").status, 201);
  const http::Response scaled =
      Do("PATCH", std::string(kHarmless) + "/s/scale", R"({"spec":{"replicas":5}})", kMergePatch);
  EXPECT_EQ(scaled.status, 422) << scaled.body;
  EXPECT_THAT(Message(scaled), HasSubstr("cannot be set because .spec.r is not an object"));
  EXPECT_EQ(At(Json(Do("GET", std::string(kHarmless) + "/s")), {"spec", "r"}), "[1,2,3]");
}

TEST_F(HarmfulObjectsTest, ATableShowsThreeOfManyPairs) {
  const std::string endpoints = "/api/v1/namespaces/default/endpoints";
  ASSERT_EQ(
      Do("POST", endpoints,
         R"({"metadata":{"name":"e"},"subsets":[{"addresses":[)" +
             Enumerated(20'000, [](int) { return R"({"ip":"10.0.0.1"})"; }) + R"(],"ports":[)" +
             Enumerated(10'000, [](int) { return R"({"name":"a","port":1})"; }) + "]}]}")
          .status,
      201);
  headers_ = {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}};
  const JsonTree table = Json(Do("GET", endpoints + "/e"));
  ASSERT_NE(table.Find("rows"), nullptr);
  EXPECT_THAT(table.Find("rows")->elements()[0].Find("cells")->ToJson(),
              HasSubstr(R"("10.0.0.1:1,10.0.0.1:1,10.0.0.1:1 + 199999997 more...")"));
}

TEST_F(HarmfulObjectsTest, ColumnsThatEachShowAllEndSomewhere) {
  ASSERT_EQ(
      Do("POST", testing::kDefinitions,
         R"({"metadata":{"name":"harmfuls.e.x"},"spec":{"group":"e.x","scope":"Namespaced","names":{"plural":"harmfuls",)"
         R"("singular":"harmful","kind":"Harmful"},"versions":[{"name":"v1","served":true,"storage":true,)"
         R"("additionalPrinterColumns":[)" +
             Enumerated(5'000,
                        [](int i) {
                          return R"({"type":"string","jsonPath":".spec","name":"n)" +
                                 std::to_string(i) + "\"}";
                        }) +
             R"(],"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})")
          .status,
      201);
  ASSERT_EQ(Make("c", R"({"text":")" + std::string(900'000, 'x') + "\"}").status, 201);
  headers_ = {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}};
  const http::Response table = Do("GET", std::string(kHarmless) + "/c");
  EXPECT_EQ(table.status, 200);
  EXPECT_LT(table.body.size(), 8U << 20);
}

TEST_F(HarmfulObjectsTest, ColumnsThatEachLookAtAllEndSomewhere) {
  ASSERT_EQ(
      Do("POST", testing::kDefinitions,
         R"({"metadata":{"name":"harmfuls.e.x"},"spec":{"group":"e.x","scope":"Namespaced","names":{"plural":"harmfuls",)"
         R"("singular":"harmful","kind":"Harmful"},"versions":[{"name":"v1","served":true,"storage":true,)"
         R"("additionalPrinterColumns":[)" +
             Enumerated(5'000,
                        [](int i) {
                          return R"({"type":"integer","jsonPath":".spec.n[*]","name":"n)" +
                                 std::to_string(i) + "\"}";
                        }) +
             R"(],"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})")
          .status,
      201);
  const std::string numbers = Enumerated(100'000, [](int) { return "7"; });
  ASSERT_EQ(Make("c", R"({"n":[)" + numbers + "]}").status, 201);
  headers_ = {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}};
  const JsonTree table = Json(Do("GET", std::string(kHarmless) + "/c"));
  ASSERT_NE(table.Find("rows"), nullptr);
  const auto& cells = table.Find("rows")->elements()[0].Find("cells")->elements();
  ASSERT_EQ(cells.size(), 5'001U);
  EXPECT_EQ(cells[1], JsonTree(7));
  EXPECT_EQ(cells.back(), JsonTree()) << "it was looked for all the same";
}

TEST_F(HarmfulObjectsTest, ManyContainersThatBeginAreAddedUp) {
  const http::Response made = Do(
      "POST", std::string(testing::kPods) + "?dryRun=All",
      R"({"metadata":{"name":"p"},"spec":{"resources":{"limits":{"cpu":1}},"containers":[{"name":"c","image":"i"}],)"
      R"("initContainers":[)" +
          Enumerated(LargeInput(30'000),
                     [](int i) {
                       return R"({"restartPolicy":"Always","resources":{"limits":{"a)" +
                              std::to_string(i) + R"(":1}}})";
                     }) +
          "]}}");
  EXPECT_EQ(made.status, 422) << made.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, ManyPortsOfANodeAreLookedUp) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/services?dryRun=All",
         R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[)" +
             Enumerated(LargeInput(100'000),
                        [](int i) { return R"({"port":)" + std::to_string(i + 1) + "}"; }) +
             "]}}");
  EXPECT_EQ(made.status, 422) << made.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, ManyLimitsGetTheirDefaults) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/limitranges?dryRun=All",
         R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{)" +
             Enumerated(LargeInput(200'000),
                        [](int i) { return R"("a)" + std::to_string(i) + R"(":1)"; }) +
             "}}]}}");
  EXPECT_THAT(made.status, ::testing::AnyOf(201, 413, 422)) << made.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, ManyManagersAndFieldsAreCompared) {
  const int managers = LargeInput(13'000);
  const http::Response made = Do(
      "POST", "/api/v1/namespaces/default/configmaps?dryRun=All",
      R"({"metadata":{"name":"m","managedFields":[)" +
          Enumerated(
              managers,
              [](int i) {
                return R"({"manager":"m)" + std::to_string(i) +
                       R"(","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:zz":{}}}})";
              }) +
          R"(]},"data":{)" +
          Enumerated(LargeInput(100'000),
                     [](int i) { return R"("k)" + std::to_string(i) + R"(":"")"; }) +
          "}}");
  EXPECT_THAT(made.status, ::testing::AnyOf(201, 413)) << made.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, OneStepInManySpellingsIsOne) {
  // The spaces of a JSON text, in different numbers and orders: all are the key `v:1`.
  const auto spelled = [](int i) {
    std::string spaces;
    for (int bit = 0; bit < 17; ++bit) {
      spaces += (i >> bit & 1) != 0 ? "\\t" : " ";
    }
    return R"("v:)" + spaces + R"(1":{"f:x)" + std::to_string(i) + R"(":{}})";
  };
  const http::Response made = Do(
      "POST", "/api/v1/namespaces/default/configmaps?dryRun=All",
      R"({"metadata":{"name":"m","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:data":{)" +
          Enumerated(LargeInput(40'000), spelled) + "}}}]}}");
  EXPECT_EQ(made.status, 201) << made.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, APodsLongNamesAreNotCopiedManyTimes) {
  headers_.clear();
  const std::string containers = Enumerated(10'000, [](int) { return "{}"; });
  const std::string long_name(1'500'000, 'a');
  EXPECT_EQ(Do("POST", std::string(testing::kPods) + "?dryRun=All",
               R"({"metadata":{"name":"p"},"spec":{"volumes":[{"name":"kube-api-access-)" +
                   long_name + R"("}],"containers":[)" + containers + "]}}")
                .status,
            422);
  EXPECT_THAT(
      Do("POST", std::string(testing::kPods) + "?dryRun=All",
         R"({"metadata":{"name":"p","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"containers":[{"name":")" +
             long_name + R"(","env":[)" +
             Enumerated(10'000, [](int) { return R"({"valueFrom":{"secretKeyRef":{}}})"; }) +
             "]}]}}")
          .status,
      ::testing::AnyOf(403, 422));
}

TEST_F(HarmfulObjectsTest, AServiceOfManyFamiliesAndRangesIsRefused) {
  const std::string services = "/api/v1/namespaces/default/services?dryRun=All";
  EXPECT_EQ(Do("POST", services,
               R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}],"ipFamilies":[)" +
                   Enumerated(LargeInput(200'000),
                              [](int i) { return "\"a" + std::to_string(i) + "\""; }) +
                   "]}}")
                .status,
            422);
  EXPECT_EQ(
      Do("POST", services,
         R"({"metadata":{"name":"s","annotations":{"service.beta.kubernetes.io/load-balancer-source-ranges":")" +
             std::string(static_cast<std::size_t>(LargeInput(2'000'000)), ',') +
             R"("}},"spec":{"type":"LoadBalancer","ports":[{"port":1}]}})")
          .status,
      422);
}

TEST_F(HarmfulObjectsTest, QuantitiesAreShort) {
  EXPECT_EQ(Do("POST", std::string(testing::kPods) + "?dryRun=All",
               R"({"metadata":{"name":"p"},"spec":{"resources":{"limits":{"cpu":")" +
                   std::string(1'500'000, '9') + R"("}},"containers":[{"name":"c","image":"i"}]}})")
                .status,
            400);
}

TEST_F(HarmfulObjectsTest, NumbersOfManyDigitsAreNotComparedForEver) {
  ASSERT_EQ(
      Do("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"c"}})").status,
      201);
  const http::Response patched = Do(
      "PATCH", "/api/v1/namespaces/default/configmaps/c",
      R"([{"op":"add","path":"/x","value":)" + std::string(2'500'000, '9') + "}," +
          Enumerated(9'000, [](int) { return R"({"op":"test","path":"/x","value":1e999})"; }) + "]",
      "application/json-patch+json");
  EXPECT_THAT(patched.status, ::testing::AnyOf(400, 413)) << patched.body.substr(0, 300);
}

TEST_F(HarmfulObjectsTest, ADefinitionDoesNotReachIntoTheObjectsOfABuiltInType) {
  // No definition of this name passes validation; an older server may have stored one.
  ASSERT_EQ(Do("POST", testing::kPods,
               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  ASSERT_TRUE(storage_->Create(
      "/registry/apiextensions.k8s.io/customresourcedefinitions/default.pods",
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":)"
      R"({"name":"default.pods","uid":"u"},"spec":{"group":"pods","scope":"Cluster","names":{"plural":)"
      R"("default","singular":"d","kind":"D","listKind":"DList"},"versions":[{"name":"v1","served":true,)"
      R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]},"status":{"conditions":)"
      R"([{"type":"Established","status":"True"}],"storedVersions":["v1"]}})",
      {}));
  Tick();
  (void)Do("DELETE", std::string(testing::kDefinitions) + "/default.pods");
  Tick();
  EXPECT_EQ(Do("GET", std::string(testing::kPods) + "/p").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
