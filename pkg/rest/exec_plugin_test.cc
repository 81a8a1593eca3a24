#include "kubexx/rest/internal/credentials/exec_plugin.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/internal/credentials/subprocess.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using base::testing::FakeClock;
using base::testing::TemporaryFolder;
using rest::testing::CertificateAuthority;
using rest::testing::ClientFor;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using rest::testing::WithoutDeadlines;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

// A shell program in a folder of its own. Each run adds a line to the file "runs".
class ExecPluginTest : public ::testing::Test {
 protected:
  // `script` may use $n, the number of this run.
  Config Plugin(const std::string& script) const {
    const std::string path =
        dir_.Write("plugin", "#!/bin/sh\ncd " + dir_.path() +
                                 "\necho run >>runs\nn=$(wc -l <runs)\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {.host = "https://api.example",
            .exec = ExecConfig{
                .api_version = kVersion, .command = path, .interactive = ExecInteractive::kNever}};
  }
  static std::string Print(const std::string& status) {
    return "cat <<END\n{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + std::string(kVersion) +
           "\",\"status\":" + status + "}\nEND\n";
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(dir_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  auto Runs() const { return std::ranges::count(Read("runs"), '\n'); }

  const TemporaryFolder dir_;
  FakeClock clock_;
  const RestMetrics no_metrics_{nullptr, "", clock_};
};

TEST_F(ExecPluginTest, ARequestWhoseTimeIsOverMeanwhileIsNotSent) {
  std::atomic<int> requests = 0;
  FakeServer server([&requests](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      ++requests;
      connection.Respond(200, "application/json", "{}");
    }
  });
  Config config = Plugin("while [ ! -e go ]; do sleep 0.01; done\n" + Print(R"({"token":"t"})"));
  config.host = server.Url();
  const auto client = ClientFor(config, WithoutDeadlines(clock_));
  apimachinery::Result<Response> result;
  {
    std::jthread caller([&] {
      result = client->Post()
                   .AbsPath("/x")
                   .Body(codec::Encoding::kJson, "{}")
                   .Timeout(std::chrono::seconds(20))
                   .Do();
    });
    KX_AWAIT_NE(Runs(), 0);
    clock_.Advance(std::chrono::seconds(21));
    dir_.Write("go", "");
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTimeout);
  EXPECT_THAT(result.error().message, HasSubstr("not sent"));
  EXPECT_EQ(requests, 0);
}

TEST_F(ExecPluginTest, ARequestDoesNotWaitForItBeyondItsTimeout) {
  Config config = Plugin("exec sleep 1000\n");
  config.exec->timeout = std::chrono::hours(1);
  const auto client = ClientFor(config);
  const auto result =
      client->Get().AbsPath("/x").Timeout(std::chrono::milliseconds(200)).MaxRetries(0).Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTimeout) << result.error().ToString();
}

TEST_F(ExecPluginTest, NobodyWaitsBeyondADeadlineForTheRunOfAnother) {
  const Config config =
      Plugin("while [ ! -e go ]; do sleep 0.01; done\n" + Print(R"({"token":"t$n"})"));
  ExecPlugin plugin(config, clock_, no_metrics_);
  std::jthread runner([&plugin] { EXPECT_EQ(plugin.Get({})->value->token, "t1"); });
  KX_AWAIT_NE(Runs(), 0);
  {
    const base::TimePoint deadline = clock_.Now() + std::chrono::seconds(20);
    std::jthread waiter([&plugin, deadline] {
      const auto got = plugin.Get({}, deadline);
      ASSERT_FALSE(got);
      EXPECT_EQ(got.error().reason, Reason::kTimeout) << got.error().ToString();
    });
    clock_.AdvanceToSleeper(std::chrono::seconds(20));
  }
  dir_.Write("go", "");
}

/// Throws an exception when it is first asked for the time.
class ThrowingClock final : public base::Clock {
 public:
  base::TimePoint Now() const override {
    if (!thrown_.exchange(true)) {
      throw std::bad_alloc();
    }
    return base::Clock::Real().Now();
  }
  base::WallTime Wall() const override { return base::Clock::Real().Wall(); }
  base::Wake WaitUntil(base::Mutex&, base::CondVar&, const std::stop_token&,
                       base::TimePoint) override {
    return base::Wake::kStopped;
  }

 private:
  mutable std::atomic<bool> thrown_ = false;
};

TEST_F(ExecPluginTest, NobodyWaitsForARunThatHasThrown) {
  const Config config = Plugin(Print(R"({"token":"t"})"));
  ThrowingClock clock;
  ExecPlugin plugin(config, clock, no_metrics_);
  const base::TimePoint deadline = base::Clock::Real().Now() + std::chrono::hours(1);
  EXPECT_THROW((void)plugin.Get({}, deadline), std::bad_alloc);
  const auto got = plugin.Get({}, deadline);
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(got->value->token, "t");
}

TEST_F(ExecPluginTest, KeepsCredentialsUntilTheyExpire) {
  // The fake clock starts at 08:00:00 of this day.
  const Config config =
      Plugin(Print(R"({"token":"t$n","expirationTimestamp":"2027-01-15T08:10:00Z"})"));
  ExecPlugin plugin(config, clock_, no_metrics_);
  for (int i = 0; i < 3; ++i) {
    const auto got = plugin.Get({});
    ASSERT_TRUE(got) << got.error().ToString();
    EXPECT_EQ(got->value->token, "t1");
  }
  EXPECT_EQ(Runs(), 1);
  clock_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(plugin.Get({})->value->token, "t2");
  EXPECT_EQ(plugin.Get({})->value->token, "t3") << "a plugin that prints old ones runs each time";
}

TEST_F(ExecPluginTest, RefusedCredentialsAreReplacedButNotAllTheTime) {
  const Config config = Plugin(Print(R"({"token":"t$n"})"));
  ExecPlugin plugin(config, clock_, no_metrics_);
  const auto first = plugin.Get({});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_TRUE(plugin.Expire(first->generation));
  const auto second = plugin.Get({});
  EXPECT_EQ(second->value->token, "t2");
  EXPECT_TRUE(plugin.Expire(first->generation)) << "replaced already";
  EXPECT_FALSE(plugin.Expire(second->generation)) << "too soon";
  EXPECT_EQ(plugin.Get({})->value->token, "t2");
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_TRUE(plugin.Expire(second->generation));
  EXPECT_EQ(plugin.Get({})->value->token, "t3");
}

TEST_F(ExecPluginTest, AllWhoAreRefusedAtOnceGetTheNextCredentials) {
  const Config config = Plugin(Print(R"({"token":"t$n"})"));
  ExecPlugin plugin(config, clock_, no_metrics_);
  const auto first = plugin.Get({});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_TRUE(plugin.Expire(first->generation));
  EXPECT_TRUE(plugin.Expire(first->generation)) << "before anybody has run it again";
  EXPECT_EQ(plugin.Get({})->value->token, "t2");
  EXPECT_TRUE(plugin.Expire(first->generation)) << "after that";
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecPluginTest, ConcurrentCallersShareOneRun) {
  const Config config = Plugin(Print(R"({"token":"t$n"})"));
  ExecPlugin plugin(config, clock_, no_metrics_);
  std::vector<std::jthread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&plugin] { EXPECT_EQ(plugin.Get({})->value->token, "t1"); });
  }
  callers.clear();
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecPluginTest, ProgramGetsArgumentsEnvironmentAndClusterInfo) {
  Config config =
      Plugin("printf '%s|%s|%s|%s' \"$1\" \"$2\" \"$A\" \"$KUBERNETES_EXEC_INFO\" >seen\n" +
             Print(R"({"token":"t"})"));
  config.exec->args = {"one two", "$HOME;`x`"};
  config.exec->env = {{"A", "b c"}};
  config.exec->provide_cluster_info = true;
  config.exec->cluster_extension = R"({"audience":"x"})";
  config.tls.server_name = "inner";
  config.tls.ca_data = "PEM";
  ExecPlugin plugin(config, clock_, no_metrics_);
  const auto got = plugin.Get({});
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(Read("seen"), R"(one two|$HOME;`x`|b c|{"kind":"ExecCredential",)"
                          R"("apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
                          R"({"server":"https://api.example","tls-server-name":"inner",)"
                          R"("certificate-authority-data":"UEVN","disable-compression":true,)"
                          R"("config":{"audience":"x"}},"interactive":false}})");
}

struct FailureCase {
  std::string name;
  std::string script;
  std::string message;
};

class ExecFailureTest : public ExecPluginTest, public ::testing::WithParamInterface<FailureCase> {};

TEST_P(ExecFailureTest, SaysWhatIsWrongWithoutShowingTheOutput) {
  const Config config = Plugin(GetParam().script);
  ExecPlugin plugin(config, clock_, no_metrics_);
  const auto got = plugin.Get({});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("credential plugin \"" + dir_.path() + "/plugin\""));
  EXPECT_THAT(got.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(got.error().message, Not(HasSubstr("SECRET")));
}

std::vector<FailureCase> Failures() {
  const auto print = [](const std::string& json) { return "cat <<END\n" + json + "\nEND\n"; };
  const std::string head = R"({"kind":"ExecCredential","apiVersion":")" + std::string(kVersion);
  return {
      {"ExitCode", "echo SECRET\nexit 3\n", "exit code 3"},
      {"Signal", "kill -9 $$\n", "exit code 137"},
      {"NotJson", "echo SECRET\n", ": "},
      {"Nothing", "exit 0\n", ": "},
      {"NoStatus", print(head + "\"}"), "status"},
      {"EmptyStatus", print(head + R"(","status":{}})"), "neither a token"},
      {"KeyOnly", print(head + R"(","status":{"clientKeyData":"SECRET"}})"), "only one of"},
      {"OtherVersion",
       print(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
             R"("status":{"token":"SECRET"}})"),
       "apiVersion"},
      {"TokenWithLineBreak", print(head + R"(","status":{"token":"SECRET\\nx"}})"),
       "control characters"},
      {"TooMuch", "head -c 2000000 /dev/zero\n", "more than"},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, ExecFailureTest, ::testing::ValuesIn(Failures()),
                         [](const auto& param) { return param.param.name; });

TEST_F(ExecPluginTest, MissingProgramGivesTheHint) {
  Config config = Plugin("");
  config.exec->command = "kubexx-no-such-program";
  config.exec->install_hint = "get it at example.com";
  metrics::Registry registry;
  const RestMetrics metrics(&registry, "h", clock_);
  ExecPlugin plugin(config, clock_, metrics);
  const auto got = plugin.Get({});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(got.error().message, HasSubstr("get it at example.com"));
  EXPECT_THAT(registry.Serialize(),
              HasSubstr("rest_client_exec_plugin_call_total{call_status=\"plugin_not_found_error\","
                        "code=\"1\"} 1"));
}

TEST(SubprocessTest, IsKilledWhenStoppedOrLate) {
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = internal::Run({.argv = {"sleep", "600"}}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().reason, Reason::kCancelled);
  const auto late = internal::Run(
      {.argv = {"sh", "-c", "sleep 600 & wait"}, .timeout = std::chrono::milliseconds(1)}, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, Reason::kTimeout);
}

TEST(SubprocessTest, EndsWithTheProgramNotWithWhatItLeftRunning) {
  const auto exit = internal::Run({.argv = {"sh", "-c", "sleep 600 & echo $!; exit 4"}}, {});
  ASSERT_TRUE(exit) << exit.error().message;
  EXPECT_EQ(exit->code, 4);
  const pid_t left = std::stoi(exit->output);
  EXPECT_EQ(exit->output, std::to_string(left) + "\n");
  // The process that the plugin left is still running, and would keep this program's output open,
  // for which ctest would wait.
  EXPECT_EQ(::kill(left, SIGKILL), 0);
}

TEST_F(ExecPluginTest, ARequestRefusedWith401IsSentOnceMoreWithNewCredentials) {
  std::vector<std::string> seen;
  FakeServer server([&seen](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      seen.push_back(request->headers.at("authorization"));
      connection.Respond(seen.back() == "Bearer t2" ? 200 : 401, "application/json", "{}");
    }
  });
  Config config = Plugin(Print(R"({"token":"t$n"})"));
  config.host = server.Url();
  const auto client = ClientFor(config, WithoutDeadlines(clock_));
  const auto result = client->Get().AbsPath("/x").Do();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(seen, ElementsAre("Bearer t1", "Bearer t2"));
  // A server that refuses all credentials is asked twice. The plugin does not run again and again.
  const auto other = ClientFor(config, WithoutDeadlines(clock_));
  EXPECT_EQ(other->Get().AbsPath("/x").Do().error().code, 401);
  EXPECT_EQ(Runs(), 4);
  EXPECT_EQ(other->Get().AbsPath("/x").Do().error().code, 401);
  EXPECT_EQ(Runs(), 4);
}

TEST_F(ExecPluginTest, ClientCertificatesOfThePluginAreUsed) {
  const CertificateAuthority authority("ca");
  const auto issued = authority.Issue({.alternative_names = "IP:127.0.0.1"});
  FakeServer server(
      [](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.Respond(connection.ClientSubject() == "CN=two" ? 200 : 401, "application/json",
                             connection.ClientSubject());
        }
      },
      rest::testing::FakeServerTls{.certificate = issued.certificate,
                                   .key = issued.key,
                                   .client_ca = authority.certificate()});
  const auto escape = [](std::string pem) {
    for (std::size_t at = 0; (at = pem.find('\n', at)) != std::string::npos; at += 2) {
      pem.replace(at, 1, "\\n");
    }
    return pem;
  };
  for (const std::string name : {"one", "two"}) {
    const auto pair = authority.Issue({.common_name = name});
    dir_.Write(name == "one" ? "1.json" : "2.json",
               R"({"kind":"ExecCredential","apiVersion":")" + std::string(kVersion) +
                   R"(","status":{"clientCertificateData":")" + escape(pair.certificate) +
                   R"(","clientKeyData":")" + escape(pair.key) + "\"}}");
  }
  Config config = Plugin("cat $n.json\n");
  config.host = server.Url();
  config.tls.ca_data = authority.certificate();
  const auto client = ClientFor(config, WithoutDeadlines(clock_));
  const auto result = client->Get().AbsPath("/x").Do();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->body, "CN=two") << "after the first was refused, on a connection of its own";
}

}  // namespace
}  // namespace kubexx::rest::internal
