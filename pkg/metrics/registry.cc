#include "kubexx/metrics/registry.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/base/utf8.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/internal/names.h"
#include "kubexx/metrics/internal/text_format.h"

namespace kubexx::metrics {
namespace {

using CounterFamily = prometheus::Family<prometheus::Counter>;
using GaugeFamily = prometheus::Family<prometheus::Gauge>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;

/// All series of one name.
struct NamedFamily {
  std::variant<CounterFamily*, GaugeFamily*, HistogramFamily*> family;
  std::vector<double> buckets{};
  std::set<Labels> series{};
};

/// A function of OnScrape.
class Update {
 public:
  explicit Update(std::function<void()> call) : call_(std::move(call)) {}

  /// Calls the function, while nobody else does, unless it has ended. Returns what it threw.
  std::optional<std::string> Run() {
    const base::MutexLock lock(mu_);
    if (!call_) {
      return std::nullopt;
    }
    try {
      call_();
      return std::nullopt;
    } catch (...) {
      return base::ThrownText();
    }
  }
  /// Waits for a call that is running; there is none afterwards.
  void End() {
    std::function<void()> ended;  // destroyed without the lock
    const base::MutexLock lock(mu_);
    ended.swap(call_);
  }

 private:
  /// Held by the calls of this function only, which is what End waits for.
  base::Mutex mu_;
  std::function<void()> call_ KX_GUARDED_BY(mu_);
};

bool IsAscending(const std::vector<double>& buckets) {
  return std::ranges::all_of(buckets, [](double bound) { return std::isfinite(bound); }) &&
         std::ranges::adjacent_find(buckets, std::greater_equal<>()) == buckets.end();
}

/// Help text as the exposition format wants it; prometheus-cpp 1.0 escapes label values but not
/// this.
std::string EscapedHelp(const std::string& help) {
  std::string escaped;
  for (const char c : base::ToValidUtf8(help)) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Labels Repaired(const Labels& labels) {
  Labels repaired;
  for (const auto& [name, value] : labels) {
    repaired.emplace(name, base::ToValidUtf8(value));
  }
  return repaired;
}

}  // namespace

void Counter::Increment(double by) const {
  if (series_ != nullptr && by >= 0 && std::isfinite(by)) {
    static_cast<prometheus::Counter*>(series_)->Increment(by);
  }
}

double Counter::Value() const {
  return series_ == nullptr ? 0 : static_cast<prometheus::Counter*>(series_)->Value();
}

void Gauge::Set(double value) const {
  if (series_ != nullptr) {
    static_cast<prometheus::Gauge*>(series_)->Set(value);
  }
}

void Gauge::Add(double by) const {
  if (series_ != nullptr) {
    static_cast<prometheus::Gauge*>(series_)->Increment(by);
  }
}

double Gauge::Value() const {
  return series_ == nullptr ? 0 : static_cast<prometheus::Gauge*>(series_)->Value();
}

void Histogram::Observe(double value) const {
  if (series_ != nullptr && !std::isnan(value)) {
    static_cast<prometheus::Histogram*>(series_)->Observe(value);
  }
}

class Registry::Impl {
 public:
  template <class T>
  T* Find(const std::string& name, const std::string& help, const Labels& labels,
          const std::vector<double>& buckets = {}) {
    std::string problem;
    T* series = nullptr;
    {
      base::MutexLock lock(mu_);
      try {
        series = FindLocked<T>(name, help, labels, buckets, problem);
      } catch (const std::exception& e) {
        problem = e.what();
      }
      if (!problem.empty() && !reported_.insert(name).second) {
        problem.clear();
      }
    }
    if (!problem.empty()) {
      logging::Error("A metric is not recorded", {{"metric", name}, {"error", problem}});
    }
    return series;
  }

  base::Subscription OnScrape(std::function<void()> call) {
    auto update = std::make_shared<Update>(std::move(call));
    const base::MutexLock lock(updates_mu_);
    updates_.push_back(update);
    return base::Subscription([this, update = std::move(update)] {
      {
        const base::MutexLock updates_lock(updates_mu_);
        std::erase(updates_, update);
      }
      update->End();
    });
  }

  std::string Serialize() {
    for (const auto& update : Updates()) {
      if (const auto thrown = update->Run()) {
        Threw(*thrown);
      }
    }
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
    for (prometheus::MetricFamily& family : families) {
      std::sort(family.metric.begin(), family.metric.end(),
                [](const auto& a, const auto& b) { return a.label < b.label; });
    }
    return internal::TextOf(families);
  }

 private:
  std::vector<std::shared_ptr<Update>> Updates() {
    const base::MutexLock lock(updates_mu_);
    return updates_;
  }

  void Threw(const std::string& what) {
    if (auto* const exceptions = Find<prometheus::Counter>(
            "metrics_update_exceptions_total",
            "Exceptions of functions that compute metrics when they are scraped.", {})) {
      exceptions->Increment();
    }
    if (const auto left_out = exception_lines_.Admit()) {
      logging::Error("A function of OnScrape threw, so its metrics keep their values",
                     {{"error", what}, {"others", *left_out}});
    }
  }

  template <class T>
  T* FindLocked(const std::string& name, const std::string& help, const Labels& labels,
                const std::vector<double>& buckets, std::string& problem) KX_REQUIRES(mu_) {
    auto found = families_.find(name);
    if (found == families_.end()) {
      problem = internal::CheckName(name);
      if (problem.empty() && !IsAscending(buckets)) {
        problem = "buckets are not finite and ascending";
      }
      if (!problem.empty()) {
        return nullptr;
      }
      prometheus::Family<T>& family = Build<T>(name, help);
      found = families_.emplace(name, NamedFamily{&family, buckets}).first;
    }
    auto* const family = std::get_if<prometheus::Family<T>*>(&found->second.family);
    if (family == nullptr) {
      problem = "it exists with another type";
    } else if (found->second.buckets != buckets) {
      problem = "it exists with other buckets";
    } else {
      problem = internal::CheckLabelNames(labels, std::is_same_v<T, prometheus::Histogram>);
    }
    if (!problem.empty()) {
      return nullptr;
    }
    const Labels repaired = Repaired(labels);
    auto& known = found->second.series;
    if (!known.contains(repaired)) {
      if (known.size() >= kMaxSeries) {
        problem = "too many series: a label has unbounded values";
        return nullptr;
      }
      known.insert(repaired);
    }
    if constexpr (std::is_same_v<T, prometheus::Histogram>) {
      return &(*family)->Add(repaired, buckets);
    } else {
      return &(*family)->Add(repaired);
    }
  }

  template <class T>
  prometheus::Family<T>& Build(const std::string& name, const std::string& help) {
    const std::string clean_help = EscapedHelp(help);
    if constexpr (std::is_same_v<T, prometheus::Counter>) {
      return prometheus::BuildCounter().Name(name).Help(clean_help).Register(registry_);
    } else if constexpr (std::is_same_v<T, prometheus::Gauge>) {
      return prometheus::BuildGauge().Name(name).Help(clean_help).Register(registry_);
    } else {
      return prometheus::BuildHistogram().Name(name).Help(clean_help).Register(registry_);
    }
  }

  base::Mutex updates_mu_;
  std::vector<std::shared_ptr<Update>> updates_ KX_GUARDED_BY(updates_mu_);
  base::ReportLimit exception_lines_{base::Clock::Real()};
  base::Mutex mu_;
  std::map<std::string, NamedFamily> families_ KX_GUARDED_BY(mu_);
  std::set<std::string> reported_ KX_GUARDED_BY(mu_);
  prometheus::Registry registry_;  // Thread-safe by itself.
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

metrics::Counter Registry::Counter(const std::string& name, const std::string& help,
                                   const Labels& labels) {
  return metrics::Counter(impl_->Find<prometheus::Counter>(name, help, labels));
}

metrics::Gauge Registry::Gauge(const std::string& name, const std::string& help,
                               const Labels& labels) {
  return metrics::Gauge(impl_->Find<prometheus::Gauge>(name, help, labels));
}

metrics::Histogram Registry::Histogram(const std::string& name, const std::string& help,
                                       const Labels& labels, const std::vector<double>& buckets) {
  return metrics::Histogram(impl_->Find<prometheus::Histogram>(name, help, labels, buckets));
}

base::Subscription Registry::OnScrape(std::function<void()> update) {
  return impl_->OnScrape(std::move(update));
}

std::string Registry::Serialize() const { return impl_->Serialize(); }

}  // namespace kubexx::metrics
