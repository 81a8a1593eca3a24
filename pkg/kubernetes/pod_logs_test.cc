#include "kubexx/kubernetes/pod_logs.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::kubernetes {
namespace {

using api::core::v1::PodLogOptions;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using rest::testing::NewClient;
using ::testing::ElementsAre;

std::vector<std::string> Split(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  const auto sink = [&lines](std::string_view line) -> Result<void> {
    lines.emplace_back(line);
    return {};
  };
  LineSplitter splitter;
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(splitter.Feed(piece, sink));
  }
  EXPECT_TRUE(splitter.Finish(sink));
  return lines;
}

TEST(LineSplitterTest, LinesMayComeInAnyPieces) {
  EXPECT_THAT(Split({"a\nb", "c\n\nd\r\n", "\r", "\n", "e"}),
              ElementsAre("a", "bc", "", "d", "", "e"));
  EXPECT_THAT(Split({}), ElementsAre());
  EXPECT_THAT(Split({"\n"}), ElementsAre(""));
}

TEST(LineSplitterTest, EndlessLinesComeInParts) {
  const std::string part(LineSplitter::kMaxLine, 'x');
  EXPECT_THAT(Split({part + part, "end\n"}), ElementsAre(part, part, "end"));
  EXPECT_THAT(Split({part + "\nnext"}), ElementsAre(part, "next"));
  EXPECT_THAT(Split({part, "\nnext"}), ElementsAre(part, "next")) << "in whichever pieces";
  EXPECT_THAT(Split({part, "\n", "\n"}), ElementsAre(part, ""));
  EXPECT_THAT(Split({part + "x", "\n"}), ElementsAre(part, "x"));
}

TEST(PodLogsTest, OptionsAreSentAndLinesCome) {
  std::string target;
  FakeServer server([&target](FakeConnection& connection) {
    if (const auto request = connection.ReadRequest()) {
      target = request->target;
      connection.RespondChunked(200, "text/plain");
      connection.WriteChunk("one\ntw");
      connection.WriteChunk("o\nthree");
      connection.EndChunks();
    }
  });
  PodLogOptions options;
  options.container = "c";
  options.follow = true;
  options.previous = true;
  options.since_seconds = 60;
  options.since_time = *apimachinery::Time::Parse("2027-01-15T08:00:00Z");
  options.timestamps = true;
  options.tail_lines = 0;
  options.limit_bytes = 1000;
  std::vector<std::string> lines;
  const auto result = ForEachPodLogLine(*NewClient(server.Url()), "ns", "p", options,
                                        [&lines](std::string_view line) -> Result<void> {
                                          lines.emplace_back(line);
                                          return {};
                                        });
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  EXPECT_EQ(target,
            "/api/v1/namespaces/ns/pods/p/log?container=c&follow=true&previous=true&sinceSeconds=60"
            "&sinceTime=2027-01-15T08%3A00%3A00Z&timestamps=true&tailLines=0&limitBytes=1000");
}

TEST(PodLogsTest, ErrorsOfServerSinkAndStopEndIt) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->target.find("/gone/") != std::string::npos) {
        connection.Respond(404, "application/json",
                           R"({"kind":"Status","apiVersion":"v1","reason":"NotFound","code":404})");
        continue;
      }
      connection.RespondChunked(200, "text/plain");
      connection.WriteChunk("line\n");
      connection.AwaitPeer();
      return;
    }
  });
  const auto client = NewClient(server.Url());
  const auto ignore = [](std::string_view) -> Result<void> { return {}; };
  EXPECT_EQ(StreamPodLogs(*client, "ns", "gone", {}, ignore).error().reason, Reason::kNotFound);
  EXPECT_EQ(StreamPodLogs(*client, "ns", "a/b", {}, ignore).error().reason, Reason::kBadRequest);
  const auto full = ForEachPodLogLine(*client, "ns", "p", {}, [](std::string_view) -> Result<void> {
    return Fail(Reason::kInternalError, "full");
  });
  EXPECT_EQ(full.error().message, "full");
  std::stop_source stop;
  const auto stopped = StreamPodLogs(
      *client, "ns", "p", {},
      [&stop](std::string_view) -> Result<void> {
        stop.request_stop();
        return {};
      },
      stop.get_token());
  EXPECT_EQ(stopped.error().reason, Reason::kCancelled);
}

}  // namespace
}  // namespace kubexx::kubernetes
