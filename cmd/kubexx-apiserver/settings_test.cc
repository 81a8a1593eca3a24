#include "settings.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "kubexx/base/testing/freed_memory/freed_memory.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::cmd {
namespace {

constexpr std::string_view kSecret = "correct-horse-battery-staple";
using base::testing::CountFreedWith;

class SecretFilesTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name, std::string_view text) {
    return folder_.Write(name, text);
  }
  /// How many blocks reading the files leaves behind with a secret in them.
  static int DirtyBlocks(const Settings& settings, bool ok = true) {
    // A part of it is too much already.
    return CountFreedWith(kSecret.substr(0, 12),
                          [&] { EXPECT_EQ(OptionsOf(settings).has_value(), ok); });
  }

  const base::testing::TemporaryFolder folder_;
};

TEST_F(SecretFilesTest, TheTestSeesWhatIsNotWiped) {
  EXPECT_EQ(CountFreedWith(kSecret, [] { const std::string text(kSecret); }), 1);
}

TEST_F(SecretFilesTest, TheAdministratorsTokenIsLeftNowhere) {
  const Settings settings{.token_file = File("token", std::string(kSecret) + "\r\n")};
  EXPECT_EQ(OptionsOf(settings)->token.view(), kSecret);
  EXPECT_EQ(DirtyBlocks(settings), 0);
}

TEST_F(SecretFilesTest, ThePrivateKeyIsLeftNowhere) {
  const std::string key = std::string(3000, 'k') + std::string(kSecret) + std::string(3000, 'k');
  const Settings settings{.certificate_file = File("crt", "c"), .key_file = File("key", key)};
  EXPECT_EQ(OptionsOf(settings)->certificate.key.view(), key);
  EXPECT_EQ(DirtyBlocks(settings), 0);
}

TEST_F(SecretFilesTest, TokensOfUsersAreLeftNowhere) {
  std::string file;
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    file += std::string(kSecret) + number + ",user-" + number + "," + number + ",\"a,b\"\n";
  }
  EXPECT_EQ(DirtyBlocks({.token_auth_file = File("tokens", file)}), 0);
  EXPECT_EQ(
      DirtyBlocks({.token_auth_file = File("tokens", file + kSecret.data() + ",jane\n")}, false),
      0);
}

TEST_F(SecretFilesTest, WhatCannotBeReadIsSaid) {
  EXPECT_EQ(OptionsOf({.token_file = folder_ / "nowhere"}).error().message,
            "cannot read " + (folder_ / "nowhere").string() + ": No such file or directory");
  EXPECT_EQ(OptionsOf({.token_file = folder_.path()}).error().message,
            "cannot read " + folder_.path() + ": Is a directory");
  EXPECT_EQ(OptionsOf({.token_file = File("empty", " \n")}).error().message,
            (folder_ / "empty").string() + " holds no token");
  EXPECT_EQ(OptionsOf({.client_ca_file = File("none", "")}).error().message,
            "--client-ca-file: " + (folder_ / "none").string() + " holds no certificate");
}

std::string ErrorIn(const Settings& settings) {
  const auto options = OptionsOf(settings);
  return options ? "no error" : options.error().message;
}

TEST(Settings, ValuesThatMakeNoSenseAreRefused) {
  using std::chrono::seconds;
  EXPECT_EQ(ErrorIn({.advertise_address = "bla"}),
            "--advertise-address: \"bla\" is no IP address; host names are not supported");
  EXPECT_EQ(ErrorIn({.advertise_address = "[::1]"}),
            "--advertise-address: \"[::1]\" is no IP address; host names are not supported");
  EXPECT_EQ(ErrorIn({.advertise_address = "fd00::1"}), "no error");
  EXPECT_EQ(ErrorIn({.service_cluster_ip_range = "10.0.0.0/40"}),
            "--service-cluster-ip-range: \"10.0.0.0/40\" is no range of addresses such as "
            "10.0.0.0/24");
  EXPECT_EQ(ErrorIn({.service_node_port_range = "2-1"}),
            "--service-node-port-range: \"2-1\" is no range of ports such as 30000-32767");
  EXPECT_EQ(ErrorIn({.event_ttl = seconds(-1)}),
            "--event-ttl: must not be negative; 0 keeps Events for ever");
  EXPECT_EQ(ErrorIn({.threads = 100000}), "--threads: must be between 1 and 1024");
  EXPECT_EQ(ErrorIn({.watch_window = 0}), "--watch-window: must be at least 1");
  EXPECT_EQ(ErrorIn({.controllers = {.names = {}, .pod_start_delay = seconds(-5)}}),
            "--pod-start-delay: must not be negative");
  EXPECT_EQ(ErrorIn({.token = "a", .token_file = "b"}),
            "--token and --token-file exclude each other");
  EXPECT_EQ(ErrorIn({.authorization_modes = {"Node"}}),
            "--authorization-mode: use AlwaysAllow, RBAC, or Node beside RBAC");
}

TEST(Settings, WhatIsForEtcdNeedsOne) {
  const std::string wanted =
      "--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers: without it no etcd "
      "is used";
  EXPECT_EQ(ErrorIn({.etcd = {.ca_file = "ca.crt"}}), wanted);
  EXPECT_EQ(ErrorIn({.etcd = {.certificate_file = "a", .key_file = "b"}}), wanted);
  EXPECT_EQ(ErrorIn({.etcd = {.endpoints = {"https://etcd:2379"}, .certificate_file = "a"}}),
            "--etcd-certfile and --etcd-keyfile belong together");
  EXPECT_EQ(ErrorIn({.etcd = {.endpoints = {"https://etcd:2379"}, .ca_file = "ca.crt"}}),
            "no error");
}

TEST(Settings, AFileOrATokenWithoutANameIsNone) {
  for (const char* const flag :
       {"--data-file=", "--token=", "--token-file=", "--write-kubeconfig="}) {
    Settings settings;
    flags::FlagSet flags("kubexx-apiserver", "Serves.");
    AddFlags(flags, settings);
    const char* const argv[] = {"kubexx-apiserver", flag};
    const auto parsed = flags.Parse(2, argv);
    ASSERT_FALSE(parsed) << flag;
    EXPECT_TRUE(parsed.error().message.ends_with("must not be empty; leave the flag out instead"))
        << parsed.error().message;
  }
}

}  // namespace
}  // namespace kubexx::cmd
