#include "kubexx/otlp/tracing.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/otlp/exporter.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::otlp {
namespace {

using base::testing::FakeClock;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::FakeServer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// What a collector gets and answers.
class FakeCollector {
 public:
  struct Answer {
    int code = 200;
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
  };

  // Answers with the first ones in turn, and then always with 200.
  explicit FakeCollector(std::vector<Answer> answers = {}) : answers_(std::move(answers)) {}

  std::string Url() const { return server_.Url() + "/v1/traces"; }
  std::vector<FakeRequest> requests() const {
    const base::MutexLock lock(mu_);
    return requests_;
  }
  std::size_t size() const { return requests().size(); }

 private:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      Answer answer;
      {
        const base::MutexLock lock(mu_);
        if (requests_.size() < answers_.size()) {
          answer = answers_[requests_.size()];
        }
        requests_.push_back(*std::move(request));
      }
      connection.Respond(answer.code, "application/x-protobuf", answer.body, answer.headers);
    }
  }

  const std::vector<Answer> answers_;
  mutable base::Mutex mu_;
  std::vector<FakeRequest> requests_ KX_GUARDED_BY(mu_);
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

apimachinery::Result<void> ExportTo(const Settings& settings, base::Clock& clock,
                                    const std::stop_token& stop = {}) {
  auto exporter = Exporter::New(settings, clock);
  EXPECT_TRUE(exporter) << exporter.error().message;
  const tracing::SpanData span{.name = "exported span"};
  return (*exporter)->Export({&span, 1}, stop);
}

TEST(ExporterTest, SendsProtobufWithHeaders) {
  FakeCollector collector;
  const auto sent =
      ExportTo({.url = collector.Url(), .headers = {{"X-Token", "SECRET"}}}, base::Clock::Real());
  ASSERT_TRUE(sent) << sent.error().message;
  ASSERT_THAT(collector.requests(), SizeIs(1));
  const FakeRequest request = collector.requests().front();
  EXPECT_EQ(request.method + " " + request.target, "POST /v1/traces");
  EXPECT_EQ(request.headers.at("content-type"), "application/x-protobuf");
  EXPECT_EQ(request.headers.at("x-token"), "SECRET");
  EXPECT_THAT(request.body, HasSubstr("exported span"));
}

std::string Unzipped(const std::string& bytes) {
  std::array<char, 4096> out{};
  z_stream stream{};
  inflateInit2(&stream, 16 + MAX_WBITS);
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = out.size();
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return {out.data(), stream.total_out};
}

TEST(ExporterTest, CompressesWhereItIsAsked) {
  FakeCollector collector;
  ASSERT_TRUE(ExportTo({.url = collector.Url(), .gzip = true}, base::Clock::Real()));
  const FakeRequest request = collector.requests().at(0);
  EXPECT_EQ(request.headers.at("content-encoding"), "gzip");
  EXPECT_THAT(Unzipped(request.body), HasSubstr("exported span"));
}

TEST(ExporterTest, TriesAgainWhereThatMayHelp) {
  FakeCollector collector({{.code = 503}, {.code = 429, .headers = {{"Retry-After", "7"}}}});
  FakeClock clock;
  apimachinery::Result<void> sent;
  // A wait for an answer is shorter than the delays, so that the clock tells the two apart.
  const Settings settings{.url = collector.Url(), .timeout = std::chrono::milliseconds(500)};
  std::jthread caller([&] { sent = ExportTo(settings, clock); });
  clock.AdvanceToSleeper(std::chrono::seconds(1));
  clock.AdvanceToSleeper(std::chrono::seconds(6));
  EXPECT_THAT(collector.requests(), SizeIs(2));
  clock.Advance(std::chrono::seconds(1));
  caller.join();
  EXPECT_TRUE(sent) << sent.error().message;
  EXPECT_THAT(collector.requests(), SizeIs(3));
}

TEST(ExporterTest, APauseThatTheCollectorAsksForHoldsUpLaterBatches) {
  FakeCollector collector({{.code = 429, .headers = {{"Retry-After", "45"}}}});
  FakeClock clock;
  const auto exporter = *Exporter::New({.url = collector.Url()}, clock);
  const tracing::SpanData span{.name = "exported span"};
  EXPECT_FALSE(exporter->Export({&span, 1}, {}));  // the limit is 30 s
  apimachinery::Result<void> second;
  std::jthread caller([&] { second = exporter->Export({&span, 1}, {}); });
  clock.AdvanceToSleeper(std::chrono::seconds(30));
  caller.join();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("asked for a pause"));
  EXPECT_THAT(collector.requests(), SizeIs(1));
  apimachinery::Result<void> third;
  caller = std::jthread([&] { third = exporter->Export({&span, 1}, {}); });
  clock.AdvanceToSleeper(std::chrono::seconds(15));
  caller.join();
  EXPECT_TRUE(third) << third.error().message;
  EXPECT_THAT(collector.requests(), SizeIs(2));
}

TEST(ExporterTest, GivesUpAtTheLimitAndWhenItIsStopped) {
  const std::string url =
      "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort()) + "/v1/traces";
  const auto late =
      ExportTo({.url = url, .export_timeout = std::chrono::milliseconds(500)}, base::Clock::Real());
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("cannot connect"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(ExportTo({.url = url}, base::Clock::Real(), stop.get_token()));
}

TEST(ExporterTest, OtherAnswersAreErrorsAtOnce) {
  struct Case {
    FakeCollector::Answer answer;
    std::string message;
  };
  for (const Case& c :
       {Case{{.code = 400, .body = "SECRET"}, "the collector answered 400"},
        Case{{.code = 401}, "the collector answered 401; check OTEL_EXPORTER_OTLP_HEADERS"},
        Case{{.code = 404}, "the collector answered 404; does the URL have the right path?"},
        Case{{.body = "\x0a\x07\x08\x02\x12\x03why"}, "the collector refused 2 of them: why"}}) {
    FakeCollector collector({c.answer});
    const auto sent = ExportTo({.url = collector.Url()}, base::Clock::Real());
    ASSERT_FALSE(sent);
    EXPECT_THAT(sent.error().message, AllOf(HasSubstr(c.message), Not(HasSubstr("SECRET"))));
    EXPECT_THAT(collector.requests(), SizeIs(1));
  }
}

TEST(ExporterTest, BadSettingsAreErrors) {
  const auto bad = Exporter::New({.url = "http://"}, base::Clock::Real());
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("the collector's endpoint: "));
  EXPECT_FALSE(
      Exporter::New({.url = "https://c", .tls = {.ca_file = "/nowhere"}}, base::Clock::Real()));
}

TEST(TracingTest, WhatHasEndedComesToTheCollector) {
  FakeCollector collector;
  metrics::Registry registry;
  Settings settings{.url = collector.Url(), .resource = {{"service.name", "tested"}}};
  auto made = Tracing::New(settings, &registry);
  ASSERT_TRUE(made) << made.error().message;
  const std::shared_ptr<tracing::Tracer> tracer = (*made)->tracer();
  tracer->Start("first").End();
  tracer->Start("second").End();
  (*made)->Shutdown(std::chrono::minutes(1));
  tracer->Start("third").End();
  made->reset();
  tracer->Start("fourth").End();  // the tracer may be kept for longer
  ASSERT_THAT(collector.requests(), SizeIs(1));
  EXPECT_THAT(
      collector.requests().front().body,
      AllOf(HasSubstr("tested"), HasSubstr("first"), HasSubstr("second"), Not(HasSubstr("third"))));
  EXPECT_EQ(registry.Counter("tracing_spans_total", "", {{"result", "exported"}}).Value(), 2);
}

TEST(TracingTest, TheSamplerAndThePropagationAreTheSettings) {
  FakeCollector collector;
  auto made = Tracing::New({.url = collector.Url(), .sampler = {.ratio = 0}, .propagate = false});
  ASSERT_TRUE(made);
  EXPECT_FALSE((*made)->tracer()->Start("work").is_recording());
  EXPECT_FALSE((*made)->tracer()->propagates());
}

TEST(TracingTest, ACollectorThatIsAwayHoldsNobodyUp) {
  const std::string url = "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort());
  auto made = Tracing::New({.url = url + "/v1/traces"});
  ASSERT_TRUE(made);
  for (int i = 0; i < 10'000; ++i) {
    (*made)->tracer()->Start("work").End();
  }
  made->reset();
}

}  // namespace
}  // namespace kubexx::otlp
