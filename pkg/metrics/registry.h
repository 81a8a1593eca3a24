/// @file
/// Metrics without prometheus-cpp in public headers.
#ifndef KUBEXX_METRICS_REGISTRY_H_
#define KUBEXX_METRICS_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kubexx::metrics {

using Labels = std::map<std::string, std::string>;

/// Handles refer to a series in a Registry and must not outlive it. Cheap to copy, thread-safe. A default-constructed
/// handle does nothing, so that instrumented code needs no "if".
class Counter {
 public:
  Counter() = default;
  void Increment(double by = 1) const;
  double Value() const;

 private:
  friend class Registry;
  explicit Counter(void* series) : series_(series) {}
  void* series_ = nullptr;
};

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

class Histogram {
 public:
  Histogram() = default;
  void Observe(double value) const;

 private:
  friend class Registry;
  explicit Histogram(void* series) : series_(series) {}
  void* series_ = nullptr;
};

/// The series of one process, on top of prometheus-cpp. Thread-safe. Asking twice for the same name and labels gives the
/// same series; a bad name or a clash of types logs an error and gives a handle that does nothing.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  metrics::Counter Counter(const std::string& name, const std::string& help, const Labels& labels = {});
  metrics::Gauge Gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  /// `buckets` are upper bounds, ascending, without +Inf.
  metrics::Histogram Histogram(const std::string& name, const std::string& help, const Labels& labels,
                               const std::vector<double>& buckets);

  /// The text exposition format.
  std::string Serialize() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_REGISTRY_H_
