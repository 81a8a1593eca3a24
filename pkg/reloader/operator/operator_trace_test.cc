#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/testing/operator_fixture.h"
#include "kubexx/tracing/testing/recorded_spans.h"

// Tests the spans of workloads.

namespace kubexx::reloader {
namespace {

using tracing::SpanData;
using tracing::testing::AttributeOf;
using tracing::testing::RecordedSpans;

class OperatorTraceTest : public OperatorTest {
 protected:
  OperatorTraceTest() { tracer_ = tracing::testing::TracerTo(spans_); }

  bool IsThere(const std::string& outcome) const {
    return std::ranges::any_of(spans_->spans(), [&outcome](const SpanData& span) {
      return AttributeOf(span, "reloader.outcome") == outcome;
    });
  }

  const std::shared_ptr<RecordedSpans> spans_ = std::make_shared<RecordedSpans>();
};

TEST_F(OperatorTraceTest, EachLookAtAWorkloadIsATrace) {
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  writer_.Await(1);
  KX_AWAIT(IsThere("rolled"));
  for (const SpanData& span : spans_->spans()) {
    EXPECT_EQ(span.name, "reconcile workload");
    EXPECT_EQ(span.parent, tracing::SpanId{});
    EXPECT_EQ(AttributeOf(span, "k8s.object.kind"), "Deployment");
    EXPECT_EQ(AttributeOf(span, "k8s.namespace.name"), "ns");
    EXPECT_EQ(AttributeOf(span, "k8s.object.name"), "web");
    EXPECT_FALSE(span.error);
  }
}

}  // namespace
}  // namespace kubexx::reloader
