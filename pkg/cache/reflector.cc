#include "kubexx/cache/reflector.h"

#include <utility>

#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/internal/reflector/reflector_pass.h"

namespace kubexx::cache {

Reflector::Reflector(std::string name, std::shared_ptr<ListerWatcher> source, ReflectorStore& store,
                     ReflectorOptions options)
    : name_(std::move(name)),
      source_(std::move(source)),
      store_(store),
      options_(std::move(options)),
      metrics_(std::make_unique<const ReflectorMetrics>(options_.registry, name_)) {}

Reflector::~Reflector() = default;

void Reflector::Run(std::stop_token stop) { Pass(*this, std::move(stop)).Run(); }

void Reflector::SetLastResourceVersion(const std::string& resource_version) {
  metrics_->SetLastResourceVersion(resource_version);
  base::MutexLock lock(mu_);
  last_rv_ = resource_version;
}

}  // namespace kubexx::cache
