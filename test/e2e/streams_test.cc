// exec, attach, port-forward and logs against a real kubelet; started by streams_test.sh, which
// makes the pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/kubernetes/pod_logs.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/port_forwarder.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class StreamsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("KUBEXX_TEST_KUBECONFIG");
    ASSERT_NE(path, nullptr) << "run this test by test/e2e/streams_test.sh";
    const auto config = rest::LoadKubeconfig({.path = path});
    ASSERT_TRUE(config) << config.error().ToString();
    const auto client = rest::RESTClient::New(*config);
    ASSERT_TRUE(client) << client.error().ToString();
    client_ = *client;
    executor_ = std::make_unique<Executor>(client_);
  }

  Result<Exit> Shell(const std::string& script, const Streams& streams) const {
    return executor_->Exec(kShell, {"sh", "-c", script}, streams);
  }

  static inline const Target kShell{.namespace_ = "streams", .pod = "shell", .container = "shell"};
  std::shared_ptr<rest::RESTClient> client_;
  std::unique_ptr<Executor> executor_;
  std::string out_;
  std::string err_;
};

TEST_F(StreamsTest, ExecGivesOutputErrorsAndExitCode) {
  const auto exit =
      Shell("echo out; echo err >&2; exit 3", {.out = StringSink(out_), .err = StringSink(err_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 3);
  EXPECT_THAT(exit->message, HasSubstr("exit code 3"));
  EXPECT_EQ(out_, "out\n");
  EXPECT_EQ(err_, "err\n");
  const auto fine = Shell("true", {.out = StringSink(out_)});
  ASSERT_TRUE(fine) << fine.error().ToString();
  EXPECT_EQ(fine->code, 0);
}

TEST_F(StreamsTest, EndOfInputReachesTheCommand) {
  std::string text;
  for (int i = 0; i < 100000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  // `cat` ends when its input does; what it wrote before that all comes back.
  const auto exit = Shell("cat; echo end", {.in = StringSource(text), .out = StringSink(out_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 0);
  EXPECT_TRUE(out_ == text + "end\n") << out_.size();
}

TEST_F(StreamsTest, TerminalHasTheSizeItIsTold) {
  const auto sizes = std::make_shared<TerminalSizes>();
  sizes->Set({.width = 132, .height = 50});
  const auto exit =
      Shell("until stty size 2>/dev/null | grep -qx '50 132'; do :; done; echo right >&2",
            {.out = StringSink(out_), .tty = true, .sizes = sizes});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 0);
  EXPECT_EQ(out_, "right\r\n") << "with a terminal, standard error comes with the output";
}

TEST_F(StreamsTest, RefusalsAreTheServersStatus) {
  const auto missing = executor_->Exec({.namespace_ = "streams", .pod = "nobody"}, {"true"},
                                       {.out = StringSink(out_)});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::kNotFound);
  EXPECT_EQ(missing.error().message, "pods \"nobody\" not found");
  const auto container =
      executor_->Exec({.namespace_ = "streams", .pod = "shell", .container = "none"}, {"true"},
                      {.out = StringSink(out_)});
  ASSERT_FALSE(container);
  EXPECT_EQ(container.error().reason, Reason::kBadRequest);
  EXPECT_THAT(container.error().message, HasSubstr("none"));
}

TEST_F(StreamsTest, StopEndsACommandThatDoesNot) {
  std::stop_source stop;
  const Sink stop_at_output = [&stop](std::string_view) -> Result<void> {
    stop.request_stop();
    return {};
  };
  const auto exit = executor_->Exec(kShell, {"sh", "-c", "echo started; sleep 1000"},
                                    {.out = stop_at_output}, stop.get_token());
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kCancelled);
}

TEST_F(StreamsTest, AttachSpeaksToTheProcessThatRuns) {
  const auto exit = executor_->Attach({.namespace_ = "streams", .pod = "reader"},
                                      {.in = StringSource("one\ntwo\n"), .out = StringSink(out_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(out_, "got one\ngot two\nno more\n");
}

TEST_F(StreamsTest, ForwardReachesAPort) {
  const auto done = executor_->Forward({.namespace_ = "streams", .pod = "shell"}, 8080,
                                       StringSource("GET / HTTP/1.0\r\n\r\n"), StringSink(out_));
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_THAT(out_, AllOf(StartsWith("HTTP/1."), HasSubstr("hello from the pod")));
}

/// Asks for the page at a local port; "" when the connection is reset before the first byte.
std::string PageAt(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  std::string page;
  EXPECT_TRUE(DescriptorSink(fd)("GET / HTTP/1.0\r\n\r\n"));
  std::array<char, 4096> buffer{};
  const Source source = DescriptorSource(fd);
  for (auto size = source(buffer, {}); size && *size > 0; size = source(buffer, {})) {
    page.append(buffer.data(), *size);
  }
  ::close(fd);
  return page;
}

TEST_F(StreamsTest, AForwarderCarriesConnectionsAndSurvivesOneThatIsRefused) {
  std::atomic<int> refused = 0;
  auto forwarder = PortForwarder::New(
      *executor_, {.namespace_ = "streams", .pod = "shell"},
      {{.local = 0, .remote = 8080}, {.local = 0, .remote = 8081}},
      {.on_error = [&refused](const ForwardedPort& port, const apimachinery::Status& error) {
        EXPECT_EQ(port.remote, 8081);
        EXPECT_THAT(error.message, HasSubstr("8081"));
        ++refused;
      }});
  ASSERT_TRUE(forwarder) << forwarder.error().ToString();
  Result<void> result;
  {
    const std::jthread runner(
        [&](const std::stop_token& stop) { result = (*forwarder)->Run(stop); });
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(PageAt((*forwarder)->ports()[0].local), HasSubstr("hello from the pod"));
      EXPECT_EQ(PageAt((*forwarder)->ports()[1].local), "");
    }
  }
  EXPECT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(refused, 3);
}

TEST_F(StreamsTest, ForwardToAPortThatNobodyListensOnIsAnError) {
  const auto done =
      executor_->Forward({.namespace_ = "streams", .pod = "shell"}, 8081, {}, StringSink(out_));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("8081"));
}

TEST_F(StreamsTest, LogsAreFollowedUntilTheReaderHasEnough) {
  std::vector<std::string> lines;
  std::stop_source enough;
  const auto read = kubernetes::ForEachPodLogLine(
      *client_, "streams", "talker", {.follow = true},
      [&](std::string_view line) -> Result<void> {
        lines.emplace_back(line);
        if (lines.size() == 10) {
          enough.request_stop();
        }
        return {};
      },
      enough.get_token());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kCancelled);
  ASSERT_GE(lines.size(), 10);
  lines.resize(5);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three", "again", "again"));
}

TEST_F(StreamsTest, LogOptionsAndErrorsAreTheServers) {
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view line) -> Result<void> {
    lines.emplace_back(line);
    return {};
  };
  const auto first =
      kubernetes::ForEachPodLogLine(*client_, "streams", "talker", {.limit_bytes = 7}, keep);
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  const auto nobody =
      kubernetes::ForEachPodLogLine(*client_, "streams", "shell", {.container = "nobody"}, keep);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().reason, Reason::kBadRequest);
  EXPECT_THAT(nobody.error().message, HasSubstr("nobody"));
}

}  // namespace
}  // namespace kubexx::remotecommand
