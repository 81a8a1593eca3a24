#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/config/kubeconfig_file.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using base::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kTwoContexts = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: one
clusters:
- name: c1
  cluster:
    server: https://one.example:6443
    certificate-authority: pki/ca.crt
    tls-server-name: inner.example
    extensions: [{name: x, extension: {a: [1]}}]
- name: c2
  cluster: {server: "http://two.example:8080/prefix", insecure-skip-tls-verify: true}
users:
- name: u1
  user: {client-certificate: ../u.crt, client-key: /abs/u.key}
- name: u2
  user: {token: abc, tokenFile: tok}
- name: u3
  user: {username: me, password: secret}
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: apps}}
- {name: two, context: {cluster: c2, user: u2}}
- {name: three, context: {cluster: c2, user: u3}}
- {name: anonymous, context: {cluster: c2}}
)";

TEST(KubeconfigTest, ReadsTheCurrentContext) {
  const TemporaryFolder dir;
  const auto config = LoadKubeconfig({.path = dir.Write("config", kTwoContexts)});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->host, "https://one.example:6443");
  EXPECT_EQ(config->namespace_, "apps");
  EXPECT_EQ(config->tls.ca_file, dir.path() + "/pki/ca.crt") << "relative to the file";
  EXPECT_EQ(config->tls.cert_file, dir.path().substr(0, dir.path().rfind('/')) + "/u.crt");
  EXPECT_EQ(config->tls.key_file, "/abs/u.key");
  EXPECT_EQ(config->tls.server_name, "inner.example");
  EXPECT_FALSE(config->tls.insecure_skip_verify);
}

TEST(KubeconfigTest, ReadsAnotherContext) {
  const TemporaryFolder dir;
  const std::string path = dir.Write("config", kTwoContexts);
  const auto two = LoadKubeconfig({.path = path, .context = "two"});
  ASSERT_TRUE(two) << two.error().ToString();
  EXPECT_EQ(two->host, "http://two.example:8080/prefix");
  EXPECT_TRUE(two->tls.insecure_skip_verify);
  EXPECT_EQ(two->bearer_token, "abc");
  EXPECT_EQ(two->bearer_token_file, dir.path() + "/tok");
  EXPECT_EQ(two->namespace_, "default");
  const auto three = LoadKubeconfig({.path = path, .context = "three"});
  ASSERT_TRUE(three);
  EXPECT_EQ(three->username, "me");
  EXPECT_EQ(three->password, "secret");
  const auto anonymous = LoadKubeconfig({.path = path, .context = "anonymous"});
  ASSERT_TRUE(anonymous);
  EXPECT_EQ(anonymous->bearer_token + anonymous->username + anonymous->tls.cert_file, "");
}

TEST(KubeconfigTest, DecodesInlineData) {
  const TemporaryFolder dir;
  const auto config = LoadKubeconfig({.path = dir.Write("config", R"(
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://a", certificate-authority-data: "aGVsbG8="}}]
users: [{name: a, user: {client-certificate-data: "Y2VydA==", client-key-data: "a2V5"}}]
)")});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->tls.ca_data, "hello");
  EXPECT_EQ(config->tls.cert_data, "cert");
  EXPECT_EQ(config->tls.key_data, "key");
}

TEST(KubeconfigTest, ReadsImpersonationProxyAndCompression) {
  const TemporaryFolder dir;
  const auto config = LoadKubeconfig({.path = dir.Write("config", R"(
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://a", proxy-url: "http://p:3128", disable-compression: false}}]
users: [{name: a, user: {token: t, as: jane, as-uid: "7", as-groups: [dev, ops], as-user-extra: {scopes: [x, y]}}}]
)")});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->impersonate, (ImpersonationConfig{.user = "jane",
                                                      .uid = "7",
                                                      .groups = {"dev", "ops"},
                                                      .extra = {{"scopes", {"x", "y"}}}}));
  EXPECT_EQ(config->proxy_url, "http://p:3128");
  EXPECT_FALSE(config->disable_compression);
}

TEST(KubeconfigTest, ReadsACredentialPlugin) {
  const TemporaryFolder dir;
  const auto config = LoadKubeconfig({.path = dir.Write("config", R"(
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters:
- name: a
  cluster:
    server: https://a
    extensions:
    - {name: other, extension: {b: 1}}
    - {name: client.authentication.k8s.io/exec, extension: {audience: x, count: 1, s: "1", on: true}}
users:
- name: a
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/plugin
      args: [get, "--token"]
      env: [{name: A, value: b}]
      installHint: get it there
      interactiveMode: Never
      provideClusterInfo: true
)")});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(*config->exec,
            (ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                        .command = dir.path() + "/bin/plugin",
                        .args = {"get", "--token"},
                        .env = {{"A", "b"}},
                        .install_hint = "get it there",
                        .provide_cluster_info = true,
                        .cluster_extension = R"({"audience":"x","count":1,"s":"1","true":true})",
                        .interactive = ExecInteractive::kNever}));
}

// An alias stands for the value that it refers to: here one refers to itself, and each of the
// others refers ten times to the one before it.
TEST(KubeconfigTest, AnExtensionWhoseAliasesHaveNoEndIsAnError) {
  const TemporaryFolder dir;
  std::string laughs = "[&a0 [x, x, x, x, x, x, x, x, x, x]";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += ", &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      laughs += (j == 0 ? "" : ", ") + before;
    }
    laughs += "]";
  }
  for (const std::string& extension :
       {std::string("&a [*a]"), std::string("&a {b: *a}"), laughs + "]"}) {
    const auto config = LoadKubeconfig({.path = dir.Write("config", R"(
current-context: a
contexts: [{name: a, context: {cluster: a}}]
clusters:
- name: a
  cluster:
    server: https://a
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: )" + extension + "\n")});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(config.error().message, HasSubstr("aliases"));
  }
}

TEST(KubeconfigTest, OptionsReplaceWhatTheFileSays) {
  const TemporaryFolder dir;
  const std::string path = dir.Write("config", kTwoContexts);
  const auto parts = LoadKubeconfig({.path = path,
                                     .cluster = "c2",
                                     .user = "u3",
                                     .namespace_ = "other",
                                     .timeout = std::chrono::seconds(9)});
  ASSERT_TRUE(parts) << parts.error().ToString();
  EXPECT_EQ(parts->host, "http://two.example:8080/prefix");
  EXPECT_EQ(parts->username, "me");
  EXPECT_EQ(parts->namespace_, "other");
  EXPECT_EQ(parts->timeout, std::chrono::seconds(9));
  const auto server = LoadKubeconfig({.path = path, .server = "https://new.example"});
  ASSERT_TRUE(server) << server.error().ToString();
  EXPECT_EQ(server->host, "https://new.example");
  EXPECT_EQ(server->tls.server_name, "") << "the name of another server";
  EXPECT_EQ(server->tls.ca_file, dir.path() + "/pki/ca.crt");
  EXPECT_FALSE(LoadKubeconfig({.path = path, .user = "nobody"}));
  EXPECT_FALSE(LoadKubeconfig({.path = path, .server = "ftp://x"}));
}

TEST(KubeconfigTest, ReadsJson) {
  const TemporaryFolder dir;
  const auto config = LoadKubeconfig({.path = dir.Write("config", R"({
	"kind": "Config", "current-context": "a",
	"contexts": [{"name": "a", "context": {"cluster": "a"}}],
	"clusters": [{"name": "a", "cluster": {"server": "https://a"}}]})")});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->host, "https://a");
}

// Sets environment variables for one test.
class EnvironmentTest : public ::testing::Test {
 protected:
  ~EnvironmentTest() override {
    for (const auto& [name, value] : saved_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  void Set(const std::string& name, const std::optional<std::string>& value) {
    const char* old = std::getenv(name.c_str());
    saved_.emplace_back(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

  const TemporaryFolder dir_;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};

TEST_F(EnvironmentTest, MergesTheListAndTheFirstFileWins) {
  const std::string first = dir_.Write("first", R"(
current-context: a
clusters: [{name: a, cluster: {server: "https://first"}}]
)");
  const std::string second = dir_.Write("second", R"(
current-context: b
clusters: [{name: a, cluster: {server: "https://second"}}, {name: b, cluster: {server: "https://b"}}]
contexts: [{name: a, context: {cluster: a, user: u}}, {name: b, context: {cluster: b, user: u}}]
users: [{name: u, user: {token: t}}]
)");
  Set("KUBECONFIG", first + "::" + dir_.path() + "/missing:" + second);
  const auto merged = LoadKubeconfig();
  ASSERT_TRUE(merged) << merged.error().ToString();
  EXPECT_EQ(merged->host, "https://first");
  EXPECT_EQ(merged->bearer_token, "t");
  const auto other = LoadKubeconfig({.context = "b"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->host, "https://b");
}

TEST_F(EnvironmentTest, FallsBackToHomeAndSaysWhatItTried) {
  Set("KUBECONFIG", std::nullopt);
  Set("HOME", dir_.path());
  const auto none = LoadKubeconfig();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(none.error().message, HasSubstr(dir_.path() + "/.kube/config"));
  const auto named = LoadConfig({.server = "http://localhost:8001"});
  ASSERT_TRUE(named) << "a server needs no file: " << named.error().ToString();
  EXPECT_EQ(named->host, "http://localhost:8001");
  Set("HOME", std::nullopt);
  EXPECT_THAT(LoadKubeconfig().error().message, HasSubstr("$HOME"));
}

TEST_F(EnvironmentTest, LoadConfigUsesThePodOnlyWithoutAKubeconfig) {
  Set("HOME", dir_.path());
  Set("KUBECONFIG", std::nullopt);
  Set("KUBERNETES_SERVICE_HOST", std::nullopt);
  const auto neither = LoadConfig();
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().message, HasSubstr("not in a pod"));
  EXPECT_THAT(neither.error().message,
              HasSubstr("no kubeconfig found; tried " + dir_.path() + "/.kube/config"));
  Set("KUBECONFIG", dir_.Write("config", kTwoContexts));
  EXPECT_TRUE(LoadConfig());
  EXPECT_FALSE(LoadConfig({.path = dir_.path() + "/missing"})) << "an explicit path must exist";
}

TEST_F(EnvironmentTest, ThePodsClusterDoesNotStandInForAnotherOne) {
  Set("HOME", dir_.path());
  Set("KUBECONFIG", std::nullopt);
  Set("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  Set("KUBERNETES_SERVICE_PORT", "443");
  const std::vector<KubeconfigOptions> others = {
      {.context = "hub"}, {.cluster = "hub"}, {.user = "hub"}};
  for (const KubeconfigOptions& named : others) {
    const auto config = LoadConfig(named);
    ASSERT_FALSE(config) << config->host;
    EXPECT_THAT(config.error().message, HasSubstr("no kubeconfig found"));
  }
}

TEST_F(EnvironmentTest, InClusterReadsTheServiceAccount) {
  dir_.Write("ca.crt", "ca");
  dir_.Write("token", "tok\n");
  dir_.Write("namespace", "apps\n");
  const auto config = internal::InClusterConfigFrom("10.0.0.1", "443", dir_.path());
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->host, "https://10.0.0.1:443");
  EXPECT_EQ(config->tls.ca_file, dir_.path() + "/ca.crt");
  EXPECT_EQ(config->bearer_token_file, dir_.path() + "/token");
  EXPECT_EQ(config->namespace_, "apps");
  const auto v6 = internal::InClusterConfigFrom("fd00::1", "443", dir_.path());
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "https://[fd00::1]:443");
  EXPECT_FALSE(internal::InClusterConfigFrom("", "443", dir_.path()));
  EXPECT_FALSE(internal::InClusterConfigFrom("10.0.0.1", "x", dir_.path()));
  const TemporaryFolder empty;
  const auto missing = internal::InClusterConfigFrom("10.0.0.1", "443", empty.path());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr(empty.path() + "/ca.crt"));
}

struct BadFileCase {
  std::string name;
  std::string text;
  std::string message;
};

class BadFileTest : public ::testing::TestWithParam<BadFileCase> {};

TEST_P(BadFileTest, NamesFileFieldAndReason) {
  const TemporaryFolder dir;
  const std::string path = dir.Write("config", GetParam().text);
  const auto config = LoadKubeconfig({.path = path});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(config.error().message, HasSubstr(path));
  EXPECT_THAT(config.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(config.error().message, ::testing::Not(HasSubstr("SECRET")));
}

// Returns a kubeconfig whose only cluster and user have these fields.
std::string With(const std::string& cluster, const std::string& user) {
  return "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: "
         "[{name: a, cluster: {" +
         cluster + "}}]\nusers: [{name: a, user: {" + user + "}}]\n";
}

const std::string kServer = "server: \"https://a\"";

INSTANTIATE_TEST_SUITE_P(
    Table, BadFileTest,
    ::testing::Values(
        BadFileCase{"BadYaml", "a: [1\nb: {", "is not valid YAML"},
        BadFileCase{"Tab", "a:\n\t- SECRET", "not valid YAML"},
        BadFileCase{"Binary", std::string("\0\x01\xff\xfe", 4), ": "},
        BadFileCase{"DeepNesting", std::string(100000, '['), ": "},
        BadFileCase{"DeepMap",
                    [] {
                      std::string s;
                      for (int i = 0; i < 20000; ++i) {
                        s += "{a: ";
                      }
                      return s;
                    }(),
                    ": "},
        BadFileCase{"Alias", "a: *nowhere", "not valid YAML"},
        BadFileCase{"List", "[1, 2]", "must be a mapping"},
        BadFileCase{"Scalar", "SECRET", "must be a mapping"},
        BadFileCase{"Empty", "", "current-context: is not set"},
        BadFileCase{"WrongKind", "kind: Secret", "kind: is \"Secret\""},
        BadFileCase{"ContextNotString", "current-context: [a]",
                    "current-context: must be a string"},
        BadFileCase{"ClustersNotList", "clusters: {a: b}", "clusters: must be a list"},
        BadFileCase{"EntryNotMapping", "users: [SECRET]",
                    "users[0]: must be a mapping with a name"},
        BadFileCase{"EntryWithoutName", "users: [{user: {token: SECRET}}]",
                    "users[0]: must be a mapping with a name"},
        BadFileCase{"UserNotMapping", "users: [{name: a, user: SECRET}]",
                    "users[0] \"a\".user: must be a mapping"},
        BadFileCase{"TokenNotString", "users: [{name: a, user: {token: [SECRET]}}]",
                    "users[0] \"a\".user.token: must be a string"},
        BadFileCase{"NoSuchContext", "current-context: x", "context \"x\" does not exist"},
        BadFileCase{"NoClusterInContext", "current-context: a\ncontexts: [{name: a}]",
                    "cluster: is not set"},
        BadFileCase{"NoSuchCluster",
                    "current-context: a\ncontexts: [{name: a, context: {cluster: x}}]",
                    "cluster \"x\" does not exist"},
        BadFileCase{"NoSuchUser",
                    "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: x}}]\n"
                    "clusters: [{name: a, cluster: {server: \"https://a\"}}]",
                    "user \"x\" does not exist"},
        BadFileCase{"NoServer", With("", ""), "clusters[0] \"a\": server: "},
        BadFileCase{"BadScheme", With("server: \"ftp://a\"", ""), "the scheme must be"},
        BadFileCase{"BadPort", With("server: \"https://a:99999\"", ""), "the port must be"},
        BadFileCase{"NoHost", With("server: \"https://:6443\"", ""), "the host is missing"},
        BadFileCase{"QueryInServer", With("server: \"https://a/b?c\"", ""), "a query"},
        BadFileCase{"PasswordInServer", With("server: \"https://u:SECRET@a\"", ""),
                    "credentials in the URL"},
        BadFileCase{"BadIpv6Server", With("server: \"https://[::x]:6443\"", ""), "IPv6"},
        BadFileCase{"CaNotBase64", With(kServer + ", certificate-authority-data: \"SECRET!\"", ""),
                    "clusters[0] \"a\": certificate-authority-data: is not valid base64"},
        BadFileCase{"KeyNotBase64",
                    With(kServer, "client-key-data: \"SECRET?\", client-certificate-data: \"\""),
                    "users[0] \"a\": client-key-data: is not valid base64"},
        BadFileCase{"BadBool", With(kServer + ", insecure-skip-tls-verify: maybe", ""),
                    "must be true or false"},
        BadFileCase{
            "CaAndInsecure",
            With(kServer + ", insecure-skip-tls-verify: true, certificate-authority: x", ""),
            "cannot be combined"},
        BadFileCase{"KeyWithoutCertificate", With(kServer, "client-key: x"),
                    "client-certificate: is missing"},
        BadFileCase{"CertificateWithoutKey", With(kServer, "client-certificate: x"),
                    "client-key: is missing"},
        BadFileCase{"TokenAndUsername", With(kServer, "token: SECRET, username: me"),
                    "cannot be combined with token"},
        BadFileCase{
            "SocksProxy", With(kServer + ", proxy-url: \"socks4://u:SECRET@p\"", ""),
            "clusters[0] \"a\": proxy-url: the scheme of a proxy must be http, https, socks5"},
        BadFileCase{"ExecNotMapping", With(kServer, "exec: aws"), "exec: must be a mapping"},
        BadFileCase{"ExecWithoutCommand", With(kServer, "exec: {apiVersion: x}"),
                    "users[0] \"a\": exec.command: is not set"},
        BadFileCase{"ExecVersion",
                    With(kServer,
                         "exec: {command: aws, apiVersion: "
                         "client.authentication.k8s.io/v1alpha1}"),
                    "exec.apiVersion: is \"client.authentication.k8s.io/v1alpha1\""},
        BadFileCase{"ExecModeMissing",
                    With(kServer,
                         "exec: {command: aws, apiVersion: "
                         "client.authentication.k8s.io/v1}"),
                    "exec.interactiveMode: must be set"},
        BadFileCase{"ExecModeUnknown",
                    With(kServer,
                         "exec: {command: aws, interactiveMode: Sometimes, apiVersion: "
                         "client.authentication.k8s.io/v1}"),
                    "exec.interactiveMode: must be Never"},
        BadFileCase{"ExecEnv",
                    With(kServer,
                         "exec: {command: aws, interactiveMode: Never, apiVersion: "
                         "client.authentication.k8s.io/v1, env: [{value: SECRET}]}"),
                    "exec.env[0].name: must not be empty"},
        BadFileCase{"ExecArgs", With(kServer, "exec: {args: SECRET}"), "args: must be a list"},
        BadFileCase{"AuthProvider", With(kServer, "auth-provider: {name: gcp}"),
                    "auth-provider: is not supported: "},
        BadFileCase{"GroupsWithoutUser", With(kServer, "as-groups: [g]"),
                    "users[0] \"a\": as: must be set"},
        BadFileCase{"GroupsNotList", With(kServer, "as-groups: g"), "as-groups: must be a list"},
        BadFileCase{"ExtraNotMapping", With(kServer, "as-user-extra: [g]"),
                    "as-user-extra: must be a mapping"}),
    [](const auto& param) { return param.param.name; });

TEST(KubeconfigTest, UnreadablePathsAreErrors) {
  for (const std::string path : {"/nonexistent/config", "/tmp", "/dev/zero"}) {
    const auto config = LoadKubeconfig({.path = path});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(config.error().message, HasSubstr("kubeconfig: cannot read " + path + ": "));
  }
}

}  // namespace
}  // namespace kubexx::rest
