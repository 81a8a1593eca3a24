#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/rest/internal/transport/traced_tripper.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/tracing/testing/recorded_spans.h"
#include "kubexx/tracing/tracer.h"

// Tests the spans of requests, and the header by which the server gets to know them.

namespace kubexx::rest {
namespace {

using apimachinery::Result;
using internal::WhatIsAsked;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using ::testing::SizeIs;
using tracing::SpanData;
using tracing::testing::AttributeOf;
using tracing::testing::RecordedSpans;
using tracing::testing::TracerTo;

std::string Described(std::string_view method, std::string_view target) {
  const internal::Asked asked = WhatIsAsked(method, target);
  return asked.verb + " " + asked.resource + " " + asked.namespace_ + "/" + asked.name;
}

TEST(WhatIsAskedTest, PathsAreReadAsByTheServer) {
  EXPECT_EQ(Described("GET", "/api/v1/namespaces/ns/pods"), "list pods ns/");
  EXPECT_EQ(Described("GET", "/api/v1/pods?limit=500"), "list pods /");
  EXPECT_EQ(Described("GET", "/api/v1/pods?limit=5&watch=true"), "watch pods /");
  EXPECT_EQ(Described("GET", "/api/v1/namespaces/ns/pods/p/log?follow=true"), "get pods/log ns/p");
  EXPECT_EQ(Described("PATCH", "/apis/apps/v1/namespaces/ns/deployments/d"),
            "patch deployments ns/d");
  EXPECT_EQ(Described("PUT", "/apis/apps/v1/namespaces/ns/deployments/d/status"),
            "update deployments/status ns/d");
  EXPECT_EQ(Described("POST", "/apis/a.b/v1/things"), "create things /");
  EXPECT_EQ(Described("DELETE", "/api/v1/nodes/n"), "delete nodes /n");
  EXPECT_EQ(Described("DELETE", "/api/v1/nodes"), "deletecollection nodes /");
  EXPECT_EQ(Described("GET", "/api/v1/namespaces/ns"), "get namespaces /ns");
  EXPECT_EQ(Described("GET", "/api/v1/namespaces"), "list namespaces /");
  EXPECT_EQ(Described("PUT", "/api/v1/namespaces/ns/finalize"), "update namespaces/finalize /ns");
  for (const char* other :
       {"/version", "/api", "/api/v1", "/apis/apps/v1", "/k8s/api/v1/pods", "", "/", "?"}) {
    EXPECT_EQ(Described("GET", other), "  /") << other;
  }
}

class TracedRequestTest : public ::testing::Test {
 protected:
  std::vector<SpanData> Spans(std::size_t count) {
    KX_AWAIT_EQ(spans_->size(), count);
    return spans_->spans();
  }

  const std::shared_ptr<RecordedSpans> spans_ = std::make_shared<RecordedSpans>();
  const std::shared_ptr<tracing::Tracer> tracer_ = TracerTo(spans_);
  // Answers with the traceparent.
  FakeServer server_{[](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      const auto header = request->headers.find("traceparent");
      const int code = request->target.find("missing") != std::string::npos ? 404 : 200;
      connection.Respond(code, "application/json",
                         header == request->headers.end() ? "none" : header->second);
    }
  }};
  std::shared_ptr<RESTClient> client_ = ClientFor({.host = server_.Url()}, {.tracer = tracer_});
};

TEST_F(TracedRequestTest, ARequestIsASpanThatTheServerKnows) {
  const auto answer = client_->Put()
                          .Resource(kConfigMaps)
                          .Namespace("ns")
                          .Name("x")
                          .Body(codec::Encoding::kJson, "{}")
                          .Do();
  ASSERT_TRUE(answer) << answer.error().ToString();
  const SpanData span = Spans(1).front();
  EXPECT_EQ(answer->body, tracing::TraceParentOf(span.context));
  EXPECT_EQ(span.name, "update configmaps");
  EXPECT_EQ(span.kind, tracing::SpanKind::kClient);
  EXPECT_EQ(AttributeOf(span, "http.request.method"), "PUT");
  EXPECT_EQ(AttributeOf(span, "http.response.status_code"), "200");
  EXPECT_EQ(AttributeOf(span, "url.full"), server_.Url() + "/api/v1/namespaces/ns/configmaps/x");
  EXPECT_EQ(AttributeOf(span, "server.address"), "127.0.0.1");
  EXPECT_EQ(AttributeOf(span, "server.port"), std::to_string(server_.port()));
  EXPECT_EQ(AttributeOf(span, "k8s.namespace.name"), "ns");
  EXPECT_EQ(AttributeOf(span, "k8s.object.name"), "x");
  EXPECT_FALSE(span.error);
}

TEST_F(TracedRequestTest, ItsParentIsTheSpanOfTheThread) {
  tracing::Span work = tracer_->Start("work");
  {
    const tracing::Scope scope(work);
    ASSERT_TRUE(client_->Get().AbsPath("/version").Do());
  }
  const SpanData span = Spans(1).front();
  EXPECT_EQ(span.parent, work.context().span);
  EXPECT_EQ(span.context.trace, work.context().trace);
  EXPECT_EQ(span.name, "GET");
}

TEST_F(TracedRequestTest, AnErrorOfTheServerIsOneOfTheSpan) {
  EXPECT_FALSE(client_->Get().AbsPath("/missing").Do());
  const SpanData span = Spans(1).front();
  EXPECT_EQ(span.error, "the server answered 404");
  EXPECT_EQ(AttributeOf(span, "error.type"), "404");
}

TEST_F(TracedRequestTest, ALostConnectionIsOne) {
  const auto client = ClientFor(
      {.host = "http://127.0.0.1:" + std::to_string(testing::UnusedPort())}, {.tracer = tracer_});
  EXPECT_FALSE(client->Get().AbsPath("/version").MaxRetries(0).Do());
  const SpanData span = Spans(1).front();
  EXPECT_THAT(*span.error, HasSubstr("cannot connect"));
  EXPECT_EQ(AttributeOf(span, "error.type"), "Unavailable");
}

TEST_F(TracedRequestTest, AStreamIsASpanUntilItsEnd) {
  Request watch = client_->Get();
  watch.Resource(kConfigMaps).Watch();
  std::string body;
  const auto result = std::move(watch).Stream([](const auto&) -> Result<void> { return {}; },
                                              [&](std::string_view bytes) -> Result<void> {
                                                EXPECT_EQ(spans_->size(), 0U) << "it has not ended";
                                                body += bytes;
                                                return {};
                                              },
                                              {});
  ASSERT_TRUE(result) << result.error().ToString();
  const SpanData span = Spans(1).front();
  EXPECT_EQ(span.name, "watch configmaps");
  EXPECT_EQ(body, tracing::TraceParentOf(span.context));
}

/// Notes what middleware can tell of the trace.
class NotingTripper final : public RoundTripper {
 public:
  explicit NotingTripper(std::shared_ptr<RoundTripper> inner) : inner_(std::move(inner)) {}
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override {
    current_ = tracing::TraceParentOf(tracing::Current());
    for (const auto& [name, value] : request.headers) {
      header_ = name == "traceparent" ? value : header_;
    }
    return inner_->Start(request);
  }
  const std::string& current() const { return current_; }
  const std::string& header() const { return header_; }

 private:
  const std::shared_ptr<RoundTripper> inner_;
  std::string current_;
  std::string header_;
};

TEST_F(TracedRequestTest, MiddlewareKnowsTheTrace) {
  std::shared_ptr<NotingTripper> middleware;
  Config config{.host = server_.Url()};
  config.wrap_round_tripper = [&middleware](std::shared_ptr<RoundTripper> inner) {
    middleware = std::make_shared<NotingTripper>(std::move(inner));
    return middleware;
  };
  ASSERT_TRUE(ClientFor(config, {.tracer = tracer_})->Get().AbsPath("/version").Do());
  const std::string sent = tracing::TraceParentOf(Spans(1).front().context);
  EXPECT_EQ(middleware->header(), sent);
  EXPECT_EQ(middleware->current(), sent);
  EXPECT_FALSE(tracing::Current().IsValid()) << "only while the request is started";
}

TEST_F(TracedRequestTest, TheServerIsNotToldWithoutPropagation) {
  const auto quiet = std::make_shared<tracing::Tracer>(
      tracing::Tracer::Options{.sink = spans_, .propagate = false});
  const auto answer =
      ClientFor({.host = server_.Url()}, {.tracer = quiet})->Get().AbsPath("/version").Do();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "none");
  Spans(1);
}

TEST_F(TracedRequestTest, AStateFromElsewhereIsPassedOn) {
  std::string state;
  FakeServer server([&state](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      state = request->headers.at("tracestate");
      connection.Respond(200, "application/json", "{}");
    }
  });
  auto from_elsewhere =
      tracing::ParseTraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  from_elsewhere->state = "vendor=1";
  const tracing::Scope scope(*from_elsewhere);
  ASSERT_TRUE(ClientFor({.host = server.Url()}, {.tracer = tracer_})->Get().AbsPath("/x").Do());
  EXPECT_EQ(state, "vendor=1");
  EXPECT_EQ(Spans(1).front().context.trace, from_elsewhere->trace);
}

}  // namespace
}  // namespace kubexx::rest
