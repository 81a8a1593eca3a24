#include "kubexx/apiserver/endpoints/validation/cluster/config_validation.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/codec/base64.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLimitedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kLimitedSecrets = "/api/v1/namespaces/default/secrets";
constexpr std::size_t kMebibyte = 1 << 20;

std::string WithData(const std::string& members) {
  return R"({"metadata":{"name":"x"},)" + members + "}";
}

class ConfigValidationTest : public testing::ApiFixture {
 protected:
  /// What is wrong with a new object; "" when it could be made.
  std::string Problem(const std::string& collection, const std::string& members) {
    const http::Response answer = Do("POST", collection + "?dryRun=All", WithData(members));
    EXPECT_TRUE(answer.status == 201 || answer.status == 422) << answer.body;
    return answer.status == 201 ? "" : Message(answer);
  }
  std::string OfType(const std::string& type, const std::string& key, const std::string& value) {
    return Problem(kLimitedSecrets, R"("type":"kubernetes.io/)" + type + R"(","data":{")" + key +
                                        "\":\"" + codec::EncodeBase64(value) + "\"}");
  }
};

TEST_F(ConfigValidationTest, AKeyIsInOnePart) {
  EXPECT_THAT(Problem(kLimitedMaps, R"("data":{"a":"b","c":"d"},"binaryData":{"a":"eA=="})"),
              HasSubstr("data[a]: Invalid value: \"a\": is in binaryData, too"));
  const http::Response made =
      Do("POST", kLimitedMaps, WithData(R"("data":{"a":"b"},"binaryData":{"c":"eA=="})"));
  ASSERT_EQ(made.status, 201) << made.body;
  const http::Response refused =
      Do("PATCH", std::string(kLimitedMaps) + "/x", R"({"data":{"c":"d"}})", kMergePatch);
  EXPECT_EQ(refused.status, 422) << refused.body;
}

TEST_F(ConfigValidationTest, ValuesHaveAMebibyteTogether) {
  const std::string half(kMebibyte / 2, 'v');
  const std::string encoded = codec::EncodeBase64(half);
  const std::string both = R"("data":{"a":")" + half + R"("},"binaryData":{"b":")" + encoded + "\"";
  EXPECT_EQ(Problem(kLimitedMaps, both + "}"), "");
  EXPECT_THAT(Problem(kLimitedMaps, both + R"(,"c":"eA=="})"),
              HasSubstr("Too long: may not be more than 1048576 bytes"));
  const std::string secret = R"("data":{"a":")" + encoded + R"(","b":")" + encoded + "\"";
  EXPECT_EQ(Problem(kLimitedSecrets, secret + "}"), "");
  EXPECT_THAT(Problem(kLimitedSecrets, secret + R"(,"c":"eA=="})"),
              HasSubstr("data: Too long: may not be more than 1048576 bytes"));
}

TEST_F(ConfigValidationTest, CredentialsOfRegistriesAreObjectsInJson) {
  for (const auto& [type, key] :
       {std::pair<const char*, const char*>("dockercfg", ".dockercfg"),
        std::pair<const char*, const char*>("dockerconfigjson", ".dockerconfigjson")}) {
    EXPECT_EQ(OfType(type, key, "{}"), "");
    EXPECT_EQ(OfType(type, key, "null"), "");
    EXPECT_EQ(OfType(type, key, "{\"a\":" + std::string(600, '[') + std::string(600, ']') + "}"),
              "");
    for (const char* const bad : {"", "hunter2", "[1]", "{"}) {
      const std::string problem = OfType(type, key, bad);
      EXPECT_THAT(problem, HasSubstr(std::string("data[") + key + "]: Invalid value"));
      EXPECT_THAT(problem, Not(HasSubstr("hunter2")));
    }
    EXPECT_THAT(OfType(type, "other", "{}"), HasSubstr("Required value"));
  }
}

TEST_F(ConfigValidationTest, AKeyOfSshIsNotEmpty) {
  EXPECT_EQ(OfType("ssh-auth", "ssh-privatekey", "k"), "");
  EXPECT_THAT(OfType("ssh-auth", "ssh-privatekey", ""), HasSubstr("Required value"));
}

}  // namespace
}  // namespace kubexx::apiserver
