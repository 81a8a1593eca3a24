#include "kubexx/metrics/internal/text_format.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace kubexx::metrics::internal {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// As many digits as TextSerializer writes.
constexpr int kDigits = std::numeric_limits<double>::max_digits10 - 1;

void AppendCount(std::string& out, std::uint64_t count) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), count).ptr);
}

void AppendNumber(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "Nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Inf" : "+Inf";
  } else {
    std::array<char, 40> digits{};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                            std::chars_format::general, kDigits)
                                  .ptr);
  }
}

void AppendLabelValue(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || c == '"') {
        out += '\\';
      }
      out += c;
    }
  }
}

/// The name, with `suffix`, and the labels. `bound` is that of a histogram's bucket.
void AppendHead(std::string& out, const MetricFamily& family, const ClientMetric& metric,
                std::string_view suffix = "", const double* bound = nullptr) {
  out.append(family.name).append(suffix);
  char before = '{';
  for (const ClientMetric::Label& label : metric.label) {
    out.append(1, before).append(label.name).append("=\"");
    AppendLabelValue(out, label.value);
    out += '"';
    before = ',';
  }
  if (bound != nullptr) {
    out.append(1, before).append("le=\"");
    AppendNumber(out, *bound);
    out += '"';
    before = ',';
  }
  out += before == ',' ? "} " : " ";
}

void AppendHistogram(std::string& out, const MetricFamily& family, const ClientMetric& metric) {
  const ClientMetric::Histogram& histogram = metric.histogram;
  AppendHead(out, family, metric, "_count");
  AppendCount(out, histogram.sample_count);
  out += '\n';
  AppendHead(out, family, metric, "_sum");
  AppendNumber(out, histogram.sample_sum);
  out += '\n';
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double last = -kInfinity;
  for (const ClientMetric::Bucket& bucket : histogram.bucket) {
    AppendHead(out, family, metric, "_bucket", &bucket.upper_bound);
    AppendCount(out, bucket.cumulative_count);
    out += '\n';
    last = bucket.upper_bound;
  }
  if (last != kInfinity) {
    AppendHead(out, family, metric, "_bucket", &kInfinity);
    AppendCount(out, histogram.sample_count);
    out += '\n';
  }
}

void AppendFamily(std::string& out, const MetricFamily& family, std::string_view type) {
  if (!family.help.empty()) {
    out.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n");
  }
  out.append("# TYPE ").append(family.name).append(" ").append(type).append("\n");
  for (const ClientMetric& metric : family.metric) {
    if (family.type == MetricType::Histogram) {
      AppendHistogram(out, family, metric);
      continue;
    }
    AppendHead(out, family, metric);
    AppendNumber(out,
                 family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
    out += '\n';
  }
}

}  // namespace

std::string TextOf(const std::vector<MetricFamily>& families) {
  std::string out;
  for (const MetricFamily& family : families) {
    switch (family.type) {
      case MetricType::Counter:
        AppendFamily(out, family, "counter");
        break;
      case MetricType::Gauge:
        AppendFamily(out, family, "gauge");
        break;
      case MetricType::Histogram:
        AppendFamily(out, family, "histogram");
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace kubexx::metrics::internal
