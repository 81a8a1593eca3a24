#include "security_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube_flags.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Result;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What a kube-apiserver that is started with these flags says of them; "" when it takes them.
std::string Complaint(const std::vector<std::string>& words) {
  Settings settings;
  KubeFlags kube;
  flags::FlagSet flags("kube-apiserver", "Serves.");
  AddKubeFlags(flags, kube, settings);
  std::vector<const char*> argv{"kube-apiserver", "--tls-cert-file=", "--cert-dir="};
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  if (const auto parsed = flags.Parse(static_cast<int>(argv.size()), argv.data()); !parsed) {
    return parsed.error().message;
  }
  if (const auto taken = TakeKubeFlags(kube, settings); !taken) {
    return taken.error().message;
  }
  const auto options = OptionsOf(settings);
  return options ? "" : options.error().message;
}

TEST(SecurityFlagsTest, AuthorizationThatIsConfiguredElsewhereIsRefused) {
  for (const char* const flag :
       {"authorization-config", "authorization-policy-file", "authorization-webhook-config-file"}) {
    const std::string name = std::string("--") + flag;
    for (const std::string& complaint :
         {Complaint({name + "=/a.yaml"}), Complaint({name, "/a.yaml"}),
          Complaint({"--authorization-mode=RBAC", name + "=/a.yaml"})}) {
      EXPECT_THAT(complaint, AllOf(HasSubstr(name + " is not supported"),
                                   HasSubstr("--authorization-mode=RBAC")));
    }
  }
}

TEST(SecurityFlagsTest, WhatWouldBeLessSafeThanMeantIsRefused) {
  for (const char* const given :
       {"--encryption-provider-config=/a", "--experimental-encryption-provider-config=/a",
        "--authentication-config=/a", "--authentication-token-webhook-config-file=/a",
        "--oidc-issuer-url=https://a", "--admission-control-config-file=/a",
        "--audit-policy-file=/a", "--audit-log-path=-", "--audit-webhook-config-file=/a",
        "--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256",
        "--tls-curve-preferences=4588", "--etcd-prefix=/other", "--allow-privileged=false",
        "--etcd-servers-overrides=/secrets#https://a",
        "--service-account-max-token-expiration=1h"}) {
    const std::string name = std::string(given).substr(0, std::string(given).find('='));
    EXPECT_THAT(Complaint({given}), AllOf(HasSubstr(name), HasSubstr("not supported"))) << given;
  }
}

TEST(SecurityFlagsTest, WhatIsAsItIsHereAnywayIsTaken) {
  for (const char* const given :
       {"--authorization-config=", "--encryption-provider-config=", "--etcd-prefix=/registry",
        "--tls-min-version=VersionTLS12", "--anonymous-auth=false", "--anonymous-auth",
        "--allow-privileged", "--service-account-max-token-expiration=0"}) {
    EXPECT_EQ(Complaint({given}), "");
  }
}

TEST(SecurityFlagsTest, AMisspeltFlagIsNotPassedOver) {
  for (const char* const given :
       {"--authorization-modes=RBAC", "--authorisation-mode=RBAC", "--enable-admission-plugin=A",
        "--token-auth-files=/a", "--encryption-config=/a", "--anonymous-authentication=false",
        "--tls-max-version=1", "--Audit-Log-Path=-", "--audit_policy_file=/a",
        "--audit-log-paths=-"}) {
    EXPECT_THAT(Complaint({given}), HasSubstr("is not known")) << given;
  }
  EXPECT_THAT(Complaint({"--authorization-modes", "RBAC"}), HasSubstr("--authorization-modes is"));
}

TEST(SecurityFlagsTest, WhatOnlySaysHowIsTaken) {
  EXPECT_EQ(
      Complaint({"--audit-log-maxage=3", "--audit-log-compress", "--audit-webhook-mode=batch",
                 "--authorization-webhook-version=v1", "--authentication-token-webhook-cache-ttl",
                 "1m", "--oidc-client-id=a", "--oidc-ca-file=/a",
                 "--encryption-provider-config-automatic-reload", "--tls-sni-cert-key=a,b",
                 "--kubelet-certificate-authority=/a", "--enable-bootstrap-token-auth",
                 "--external-hostname=a", "--goaway-chance=0.1", "--logging-format=json"}),
      "");
}

TEST(SecurityFlagsTest, APluginThatWouldHaveToRefuseIsMissed) {
  EXPECT_THAT(Complaint({"--enable-admission-plugins=NodeRestriction,AlwaysPullImages"}),
              HasSubstr("no AlwaysPullImages"));
  EXPECT_THAT(Complaint({"--admission-control=AlwaysDeny"}), HasSubstr("no AlwaysDeny"));
  EXPECT_EQ(
      Complaint({"--admission-control=AlwaysAdmit", "--enable-admission-plugins=PodSecurity"}), "");
}

}  // namespace
}  // namespace kubexx::cmd
