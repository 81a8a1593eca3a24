#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/hex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/action.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/reconciler.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/tracing/testing/recorded_spans.h"
#include "kubexx/tracing/tracer.h"

// Tests the spans of reconciles.

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::Contains;
using ::testing::HasSubstr;
using tracing::SpanData;
using tracing::testing::AttributeOf;
using tracing::testing::RecordedSpans;

class TracedReconcileTest : public ::testing::Test {
 protected:
  // Runs one reconcile of ns/a, and returns the spans of `count`.
  std::vector<SpanData> Reconciled(ReconcileFunction reconcile, std::size_t count = 1) {
    Controller controller({.name = "traced", .tracer = tracer_}, Client::Parts{},
                          std::move(reconcile));
    std::jthread thread([&controller](const std::stop_token& stop) { (void)controller.Run(stop); });
    controller.Enqueue({.kind = "Deployment", .object = {"ns", "a"}});
    KX_AWAIT_GE(spans_->size(), count);
    return spans_->spans();
  }

  const std::shared_ptr<RecordedSpans> spans_ = std::make_shared<RecordedSpans>();
  const std::shared_ptr<tracing::Tracer> tracer_ = tracing::testing::TracerTo(spans_);
};

TEST_F(TracedReconcileTest, AReconcileBeginsATraceWithItsRequests) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(200, "application/json", "{}");
    }
  });
  const auto client = rest::testing::ClientFor({.host = server.Url()}, {.tracer = tracer_});
  const std::vector<SpanData> spans = Reconciled(
      [&client](const Request&, Context&) -> Result<Action> {
        KX_RETURN_IF_ERROR(client->Get().AbsPath("/version").Do());
        return Action::Done();
      },
      2);
  const SpanData& request = spans.at(0);
  const SpanData& reconcile = spans.at(1);
  EXPECT_EQ(reconcile.name, "reconcile traced");
  EXPECT_EQ(reconcile.parent, tracing::SpanId{});
  EXPECT_EQ(AttributeOf(reconcile, "k8s.namespace.name"), "ns");
  EXPECT_EQ(AttributeOf(reconcile, "k8s.object.name"), "a");
  EXPECT_EQ(AttributeOf(reconcile, "k8s.object.kind"), "Deployment");
  EXPECT_FALSE(reconcile.error);
  EXPECT_EQ(request.name, "GET");
  EXPECT_EQ(request.parent, reconcile.context.span);
  EXPECT_EQ(request.context.trace, reconcile.context.trace);
}

TEST_F(TracedReconcileTest, FailuresAreThoseOfTheSpan) {
  const SpanData failed = Reconciled([](const Request&, Context&) -> Result<Action> {
                            return Fail(Reason::kConflict, "too late");
                          }).front();
  EXPECT_THAT(*failed.error, HasSubstr("too late"));
}

TEST_F(TracedReconcileTest, SoIsAnException) {
  const SpanData thrown = Reconciled([](const Request&, Context&) -> Result<Action> {
                            throw std::runtime_error("oops");
                          }).front();
  EXPECT_THAT(*thrown.error, HasSubstr("oops"));
}

TEST_F(TracedReconcileTest, TheLinesOfTheLogNameTheTrace) {
  const logging::testing::Capture log;
  const SpanData span = Reconciled([](const Request&, Context& context) -> Result<Action> {
                          context.log.Info("A line of the reconcile");
                          return Action::Done();
                        }).front();
  EXPECT_THAT(log.lines(),
              Contains(AllOf(HasSubstr("A line of the reconcile"),
                             HasSubstr("trace_id=" + base::ToHex(span.context.trace)))));
}

TEST_F(TracedReconcileTest, WithoutATracerThereIsNone) {
  const logging::testing::Capture log;
  Controller controller({.name = "plain"}, Client::Parts{},
                        [](const Request&, Context& context) -> Result<Action> {
                          context.log.Info("A line of the reconcile");
                          return Action::Done();
                        });
  std::jthread thread([&controller](const std::stop_token& stop) { (void)controller.Run(stop); });
  controller.Enqueue({.object = {"ns", "a"}});
  KX_AWAIT_GE(log.lines().size(), 1U);
  EXPECT_THAT(log.lines(), Not(Contains(HasSubstr("trace_id"))));
}

TEST_F(TracedReconcileTest, AManagerGivesItsTracerToControllersAndClients) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(200, "application/json", "{}");
    }
  });
  auto manager = Manager::New({.host = server.Url()}, {.tracer = tracer_});
  ASSERT_TRUE(manager) << manager.error().message;
  EXPECT_EQ((*manager)->ControllerDefaults("Deployment").tracer, tracer_);
  ASSERT_TRUE((*manager)->client()->Get().AbsPath("/version").Do());
  KX_AWAIT_EQ(spans_->size(), 1U);
}

}  // namespace
}  // namespace kubexx::controller
