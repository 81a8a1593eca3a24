#include "kubexx/reloader/admission/webhook_path.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

const AdmissionSettings kPathSettings{.enabled = true, .name = "hook", .namespace_ = "tools"};

dynamic::Unstructured Configured(const std::string& client_config) {
  const auto object = dynamic::Unstructured::Parse(
      R"({"webhooks":[{"name":"a.example.com","clientConfig":)" + client_config +
      R"(},{"name":"other","clientConfig":{"service":{"namespace":"tools","name":"another","path":"/x"}}}]})");
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : dynamic::Unstructured();
}

TEST(WebhookPath, IsAnotherForEachSecretAndHasNothingOfItsUid) {
  EXPECT_NE(WebhookPath("hook", "u-1"), WebhookPath("hook", "u-2"));
  EXPECT_EQ(WebhookPath("hook", "u-1").find("u-1"), std::string::npos);
  EXPECT_EQ(WebhookPath("hook", "u-1"), WebhookPath("hook", "u-1"));
  EXPECT_TRUE(WebhookPath("hook", "u-1").starts_with("/hook/"));
}

TEST(WebhookPath, IsGivenToTheWebhooksOfTheServiceAlone) {
  EXPECT_EQ(
      PathPatch(
          Configured(
              R"({"caBundle":"x","service":{"namespace":"tools","name":"hook","port":443,"path":"/stamp-workload"}})"),
          kPathSettings, "/p"),
      R"({"webhooks":[{"name":"a.example.com","clientConfig":{"service":{"namespace":"tools","name":"hook","port":443,"path":"/p"}}}]})");
  EXPECT_EQ(PathPatch(Configured(R"({"service":{"namespace":"tools","name":"hook","path":"/p"}})"),
                      kPathSettings, "/p"),
            "");
  EXPECT_EQ(PathPatch(Configured(R"({"url":"https://tools.example.com/"})"), kPathSettings, "/p"),
            "");
  EXPECT_EQ(PathPatch(*dynamic::Unstructured::Parse("{}"), kPathSettings, "/p"), "");
  EXPECT_EQ(PathPatch(*dynamic::Unstructured::Parse(R"({"webhooks":[1,{}]})"), kPathSettings, "/p"),
            "");
}

TEST(WebhookPath, IsGivenToUrlsOfTheOperatorWhereThereIsOne) {
  AdmissionSettings settings = kPathSettings;
  settings.url = "https://192.0.2.7:9443";
  EXPECT_EQ(
      PathPatch(Configured(R"({"url":"https://192.0.2.7:9443/stamp-workload"})"), settings, "/p"),
      R"({"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://192.0.2.7:9443/p"}}]})");
  EXPECT_EQ(PathPatch(Configured(R"({"url":"https://192.0.2.7:9443/p"})"), settings, "/p"), "");
  EXPECT_EQ(PathPatch(Configured(R"({"url":"https://192.0.2.7:94431/x"})"), settings, "/p"), "");
}

TEST(HostOfAdmission, IsThatOfAnUrlWithAPortAndNoPath) {
  EXPECT_EQ(HostOfAdmission("https://192.0.2.7:9443"), "192.0.2.7");
  EXPECT_EQ(HostOfAdmission("https://[2001:db8::1]:9443"), "2001:db8::1");
  EXPECT_EQ(HostOfAdmission("https://tools.example.com:1"), "tools.example.com");
  for (const char* text : {"", "https://", "https://host", "https://:1", "http://host:1",
                           "https://host:1/", "https://host:port", "https://host:123456"}) {
    EXPECT_EQ(HostOfAdmission(text), "") << text;
  }
}

}  // namespace
}  // namespace kubexx::reloader
