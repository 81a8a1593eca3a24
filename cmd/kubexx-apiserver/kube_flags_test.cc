#include "kube_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class KubeFlagsTest : public ::testing::Test {
 protected:
  KubeFlagsTest() { AddKubeFlags(flags_, kube_, settings_); }

  Result<apiserver::ApiServerOptions> Options(const std::vector<std::string>& words) {
    std::vector<const char*> argv{"kube-apiserver"};
    for (const std::string& word : words) {
      argv.push_back(word.c_str());
    }
    KX_RETURN_IF_ERROR(flags_.Parse(static_cast<int>(argv.size()), argv.data()));
    KX_RETURN_IF_ERROR(TakeKubeFlags(kube_, settings_));
    return OptionsOf(settings_);
  }
  std::string ErrorOf(const std::vector<std::string>& words) {
    const auto options = Options(words);
    return options ? "no error" : options.error().message;
  }
  /// A second call in a test begins anew.
  void Forget() {
    settings_.certificate_file.clear();
    settings_.key_file.clear();
    settings_.authorization_modes.clear();
  }
  std::string CertDir() const { return "--cert-dir=" + (folder_ / "certs").string(); }

  const base::testing::TemporaryFolder folder_;
  Settings settings_;
  KubeFlags kube_;
  flags::FlagSet flags_{"kube-apiserver", "Serves."};
};

TEST_F(KubeFlagsTest, WhatEnvtestGivesIsUnderstood) {
  const auto options =
      Options({"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1",
               CertDir(), "--disable-admission-plugins=ServiceAccount", "--secure-port=20443",
               "--service-account-issuer=https://127.0.0.1:20443/",
               "--service-account-key-file=/nowhere/sa.crt",
               "--service-account-signing-key-file=/nowhere/sa.key",
               "--service-cluster-ip-range=10.7.0.0/24", "--service-node-port-range=31000-31999",
               "--insecure-port=0"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->address, "127.0.0.1:20443");
  EXPECT_TRUE(options->rbac);
  EXPECT_EQ(options->service_ranges.addresses.front().ToString(), "10.7.0.0/24");
  EXPECT_EQ(options->service_ranges.ports.ToString(), "31000-31999");
  EXPECT_FALSE(options->plain_http);
  EXPECT_FALSE(options->token.empty()) << "nobody is let in for nothing";
  EXPECT_TRUE(kube_.unknown.empty());
}

TEST_F(KubeFlagsTest, UnknownFlagsAreTakenAndKnown) {
  ASSERT_TRUE(Options({"--bind-address=::1", CertDir(), "--external-hostname", "-", "--zap"}));
  EXPECT_THAT(kube_.unknown, ElementsAre("--external-hostname -", "--zap"));
  EXPECT_EQ(settings_.address, "[::1]:6443");
}

TEST_F(KubeFlagsTest, WhatSuitesAddIsKnown) {
  const auto options = Options(
      {"--bind-address=127.0.0.1", CertDir(), "--max-requests-inflight=1000",
       "--max-mutating-requests-inflight", "500", "--advertise-address=127.0.0.1", "-v", "5",
       "-v=6", "--v=7", "--vmodule=a=1", "--runtime-config=api/all=true", "--feature-gates=A=true",
       "--enable-admission-plugins=NodeRestriction,PodSecurity,NamespaceLifecycle",
       "--requestheader-client-ca-file=/nowhere/ca.crt", "--requestheader-allowed-names=front",
       "--requestheader-extra-headers-prefix=X-Remote-Extra-",
       "--requestheader-group-headers=X-Remote-Group",
       "--requestheader-username-headers=X-Remote-User"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_THAT(kube_.unknown, ElementsAre());
}

TEST_F(KubeFlagsTest, TheCertificateIsMadeOnceInItsFolder) {
  const auto made = Options({CertDir()});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->certificate.certificate, StartsWith("-----BEGIN CERTIFICATE"));
  const auto key = folder_ / "certs" / "apiserver.key";
  EXPECT_EQ(std::filesystem::status(key).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Forget();
  const auto found = Options({CertDir(), "--authorization-mode=RBAC"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->certificate, made->certificate);
}

TEST_F(KubeFlagsTest, ModesOfAuthorizationAreAList) {
  EXPECT_TRUE(Options({CertDir(), "--authorization-mode=Node,RBAC"})->rbac);
}

TEST_F(KubeFlagsTest, WithoutAModeEverythingIsAllowed) { EXPECT_FALSE(Options({CertDir()})->rbac); }

TEST_F(KubeFlagsTest, WhatWouldLetInOthersThanMeantIsRefused) {
  EXPECT_THAT(ErrorOf({CertDir(), "--authorization-mode=Webhook"}), HasSubstr("no Webhook"));
  Forget();
  EXPECT_THAT(ErrorOf({CertDir(), "--authorization-mode=Node"}),
              HasSubstr("RBAC, or Node beside RBAC"));
  EXPECT_THAT(ErrorOf({CertDir(), "--insecure-port=8080"}), HasSubstr("has to be 0"));
}

TEST_F(KubeFlagsTest, PodsGetTheirServiceAccountsUnlessThatIsSwitchedOff) {
  EXPECT_TRUE(Options({CertDir()})->service_accounts);
  Forget();
  const auto options = Options({CertDir(), "--authorization-mode=RBAC",
                                "--disable-admission-plugins=PodSecurity,ServiceAccount"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_FALSE(options->service_accounts);
}

TEST(SettingsTest, PodsGetTheirServiceAccountsWhereSomebodyMakesThem) {
  Settings settings;
  EXPECT_FALSE(OptionsOf(settings)->service_accounts);
  settings.controllers.names = {"all"};
  EXPECT_TRUE(OptionsOf(settings)->service_accounts);
  settings.controllers.names = {"namespace"};
  EXPECT_TRUE(OptionsOf(settings)->service_accounts);
  settings.disabled_plugins = {"ServiceAccount"};
  EXPECT_FALSE(OptionsOf(settings)->service_accounts);
  const Settings enabled{.enabled_plugins = {"ServiceAccount"}};
  EXPECT_TRUE(OptionsOf(enabled)->service_accounts);
}

TEST(SettingsTest, OnlyAnEtcdIsSharedWithOtherServers) {
  EXPECT_FALSE(OptionsOf(Settings{})->shared_storage);
  EXPECT_FALSE(OptionsOf(Settings{.data_file = "data"})->shared_storage);
  Settings with_etcd;
  with_etcd.etcd.endpoints = {"http://127.0.0.1:2379"};
  EXPECT_TRUE(OptionsOf(with_etcd)->shared_storage);
}

TEST_F(KubeFlagsTest, AnEtcdThatIsGivenIsShared) {
  EXPECT_FALSE(Options({CertDir()})->shared_storage);
  Forget();
  const auto options =
      Options({CertDir(), "--authorization-mode=RBAC", "--etcd-servers=http://127.0.0.1:2379"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->shared_storage);
}

TEST_F(KubeFlagsTest, TheHelpListsFlagsAtTheBeginningOfALine) {
  const std::string help = flags_.Usage();
  for (const char* const flag : {"advertise-address",
                                 "allow-privileged",
                                 "authorization-mode",
                                 "bind-address",
                                 "cert-dir",
                                 "client-ca-file",
                                 "disable-admission-plugins",
                                 "enable-admission-plugins",
                                 "etcd-servers",
                                 "feature-gates",
                                 "insecure-port",
                                 "max-mutating-requests-inflight",
                                 "max-requests-inflight",
                                 "requestheader-allowed-names",
                                 "requestheader-client-ca-file",
                                 "requestheader-extra-headers-prefix",
                                 "requestheader-group-headers",
                                 "requestheader-uid-headers",
                                 "requestheader-username-headers",
                                 "runtime-config",
                                 "secure-port",
                                 "service-account-issuer",
                                 "service-account-key-file",
                                 "service-account-signing-key-file",
                                 "service-cluster-ip-range",
                                 "service-node-port-range",
                                 "v"}) {
    EXPECT_THAT(help, HasSubstr("\n      --" + std::string(flag) + " "));
  }
}

}  // namespace
}  // namespace kubexx::cmd
