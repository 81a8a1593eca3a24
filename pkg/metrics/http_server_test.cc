#include "kubexx/metrics/http_server.h"

#include <gtest/gtest.h>

namespace kubexx::metrics {
namespace {

TEST(MetricsHandlerTest, ServesTheTextFormat) {
  Registry registry;
  registry.Counter("a_total", "A.").Increment();
  const HttpResponse response = MetricsHandler(registry)({.path = "/metrics"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(response.body, "# HELP a_total A.\n# TYPE a_total counter\na_total 1\n");
}

}  // namespace
}  // namespace kubexx::metrics
