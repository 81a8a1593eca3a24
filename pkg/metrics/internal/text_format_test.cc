#include "kubexx/metrics/internal/text_format.h"

#include <gtest/gtest.h>
#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <string>
#include <vector>

namespace kubexx::metrics::internal {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kTextInfinity = std::numeric_limits<double>::infinity();

/// One series for each of these values, with a label that tells which.
MetricFamily ValuesOf(MetricType type, const std::vector<double>& values) {
  MetricFamily family{.name = "some_total", .help = "Some \\n help.", .type = type, .metric = {}};
  for (const double value : values) {
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"a", "plain"}, {"b", "a \"quoted\"\n\\ text"}};
    metric.label[0].value += std::to_string(family.metric.size());
    metric.counter.value = value;
    metric.gauge.value = value;
  }
  return family;
}

MetricFamily HistogramOf(const std::vector<double>& bounds, bool has_labels) {
  MetricFamily family{
      .name = "some_seconds", .help = "", .type = MetricType::Histogram, .metric = {}};
  ClientMetric& metric = family.metric.emplace_back();
  if (has_labels) {
    metric.label = {{"a", "b"}};
  }
  metric.histogram.sample_count = 7;
  metric.histogram.sample_sum = 0.1 + 0.2;
  for (const double bound : bounds) {
    metric.histogram.bucket.push_back({.cumulative_count = 3, .upper_bound = bound});
  }
  return family;
}

TEST(TextFormatTest, IsThatOfPrometheusCpp) {
  const std::vector<double> values = {0,
                                      -0.0,
                                      1,
                                      -2.5,
                                      0.1,
                                      0.1 + 0.2,
                                      1.0 / 3,
                                      123456789,
                                      1e15,
                                      1e16,
                                      1e17,
                                      123456789012345678.0,
                                      1e-5,
                                      0.0001,
                                      1.5e300,
                                      5e-324,
                                      1700000000.123456,
                                      kTextInfinity,
                                      -kTextInfinity,
                                      std::numeric_limits<double>::quiet_NaN()};
  std::vector<MetricFamily> families = {ValuesOf(MetricType::Counter, values),
                                        ValuesOf(MetricType::Gauge, values)};
  for (const std::vector<double>& bounds :
       {std::vector<double>{}, {0.005, 1, 2.5}, {1, kTextInfinity}}) {
    families.push_back(HistogramOf(bounds, false));
    families.push_back(HistogramOf(bounds, true));
  }
  EXPECT_EQ(TextOf(families), prometheus::TextSerializer().Serialize(families));
  families.front().metric.front().label.clear();
  EXPECT_EQ(TextOf(families), prometheus::TextSerializer().Serialize(families));
}

TEST(TextFormatTest, NothingIsNoText) { EXPECT_EQ(TextOf({}), ""); }

}  // namespace
}  // namespace kubexx::metrics::internal
