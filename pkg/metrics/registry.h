/// @file
/// Metrics without prometheus-cpp in public headers.
#ifndef KUBEXX_METRICS_REGISTRY_H_
#define KUBEXX_METRICS_REGISTRY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/base/subscription.h"

namespace kubexx::metrics {

/// Names and values of a series' labels.
using Labels = std::map<std::string, std::string>;

/// Handles refer to a series in a Registry and must not outlive it. Cheap to copy, thread-safe. A
/// default-constructed handle does nothing, so that instrumented code needs no "if".
class Counter {
 public:
  Counter() = default;
  /// Negative and non-finite amounts are ignored.
  void Increment(double by = 1) const;
  double Value() const;

 private:
  friend class Registry;
  explicit Counter(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// A value that goes up and down; a handle, as Counter is.
class Gauge {
 public:
  Gauge() = default;
  void Set(double value) const;
  void Add(double by) const;
  double Value() const;

 private:
  friend class Registry;
  explicit Gauge(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// Counts observations by size; a handle, as Counter is.
class Histogram {
 public:
  Histogram() = default;
  /// NaN is ignored.
  void Observe(double value) const;

 private:
  friend class Registry;
  explicit Histogram(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// The series of one process, on top of prometheus-cpp. Thread-safe. Asking twice for the same name
/// and labels gives the same series; a bad name, a clash of types or of buckets, or more than
/// kMaxSeries series of one name log an error, once per name, and give a handle that does nothing.
/// Label values that are not UTF-8 are repaired with U+FFFD.
class Registry {
 public:
  /// A guard against labels with unbounded values, which would take memory without end.
  static constexpr std::size_t kMaxSeries = 10000;

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  metrics::Counter Counter(const std::string& name, const std::string& help,
                           const Labels& labels = {});
  metrics::Gauge Gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  /// `buckets` are upper bounds, ascending, without +Inf.
  metrics::Histogram Histogram(const std::string& name, const std::string& help,
                               const Labels& labels, const std::vector<double>& buckets);

  /// Calls `update` at the start of each Serialize, for values that are only worth computing when
  /// somebody looks; one call of it at a time. It may use the registry, except Serialize; it must
  /// be quick, and must not end its own subscription. When it throws, that is logged, and counted
  /// in metrics_update_exceptions_total, and all other metrics are there. The subscription must end
  /// before the registry.
  base::Subscription OnScrape(std::function<void()> update);

  /// The text exposition format, version 0.0.4. Families come by name, series by labels.
  std::string Serialize() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_REGISTRY_H_
