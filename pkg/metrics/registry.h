/// @file
/// Registry: the metrics of a process, without prometheus-cpp in public headers.
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

/// The names and values of a series' labels.
using Labels = std::map<std::string, std::string>;

/// A value that only grows. This is a handle, which refers to a series in a Registry and must not
/// outlive the Registry. A default-constructed handle does nothing, so that instrumented code needs
/// no "if". Cheap to copy, thread-safe.
class Counter {
 public:
  Counter() = default;
  /// Adds `by`. Negative and non-finite amounts are ignored.
  void Increment(double by = 1) const;
  double Value() const;

 private:
  friend class Registry;
  explicit Counter(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// A value that goes up and down. This is a handle, like Counter.
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

/// Counts observations by size. This is a handle, like Counter.
class Histogram {
 public:
  Histogram() = default;
  /// Counts an observation. NaN is ignored.
  void Observe(double value) const;

 private:
  friend class Registry;
  explicit Histogram(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// The series of one process, stored by prometheus-cpp. Two requests for the same name and labels
/// return the same series. A bad name, another type or other buckets than before, and more than
/// kMaxSeries series of one name are errors: they are logged once for each name, and the returned
/// handle does nothing. Invalid UTF-8 in label values is replaced by U+FFFD. Thread-safe.
class Registry {
 public:
  /// The limit of series of one name, against labels with unbounded values, which would take
  /// unlimited memory.
  static constexpr std::size_t kMaxSeries = 10000;

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  metrics::Counter Counter(const std::string& name, const std::string& help,
                           const Labels& labels = {});
  metrics::Gauge Gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  /// `buckets` are the upper bounds in ascending order, without +Inf.
  metrics::Histogram Histogram(const std::string& name, const std::string& help,
                               const Labels& labels, const std::vector<double>& buckets);

  /// Calls `update` at the start of each Serialize, one call at a time. It serves values that are
  /// only worth computing for a scrape. `update` may use the registry, except Serialize; it must be
  /// quick, and must not end its own subscription. An exception is logged and counted in
  /// metrics_update_exceptions_total, and all other metrics are still written. The subscription
  /// must end before the registry.
  base::Subscription OnScrape(std::function<void()> update);

  /// Returns all metrics in the text exposition format, version 0.0.4, with families in the order
  /// of their names, and series in the order of their labels.
  std::string Serialize() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_REGISTRY_H_
